#include "daemon/session/bundle.h"

#include <archive.h>
#include <archive_entry.h>

#include <map>
#include <memory>

#include "common/digest.h"
#include "common/json.h"
#include "common/json_edit.h"
#include "common/text.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

constexpr std::string_view manifest_name = "bundle.json";
constexpr std::int64_t format_version = 1;

struct CloseWriter {
  void operator()(archive* a) const { archive_write_free(a); }
};
struct CloseReader {
  void operator()(archive* a) const { archive_read_free(a); }
};
struct FreeEntry {
  void operator()(archive_entry* e) const { archive_entry_free(e); }
};

Error refusal(std::string why) {
  return Error(ErrorCode::damaged, "the bundle is refused: " + std::move(why));
}

Status write_entry(archive* out, std::string_view name, std::string_view bytes) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname_utf8(entry.get(), std::string(name).c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0600);
  if (archive_write_header(out, entry.get()) != ARCHIVE_OK ||
      archive_write_data(out, bytes.data(), bytes.size()) != static_cast<la_ssize_t>(bytes.size()))
    return Error(ErrorCode::internal, "cannot pack " + quoted(name) + ": " + archive_error_string(out));
  return {};
}

json::object make_manifest(const Bundle& bundle) {
  json::object files{{layout::history, sha256_hex(bundle.history)}};
  for (const StateBytes& file : bundle.files) files[file.name] = sha256_hex(file.bytes);
  return {{"format", format_version},
          {"kind", bundle.kind},
          {"session_id", bundle.session_id},
          {"revision", bundle.revision},
          {"files", std::move(files)}};
}

la_ssize_t append_to_string(archive*, void* target, const void* bytes, size_t size) {
  static_cast<std::string*>(target)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

// A name that a session directory may have: its history, a state file or an artifact, never a path.
bool allowed_name(std::string_view name) {
  constexpr std::string_view state_files[] = {"session.json", "session-state.yaml", "state.yaml",
                                              "implementation-plan.yaml", "quedonde_session_state.json"};
  if (name == manifest_name || name == layout::history) return true;
  for (std::string_view state : state_files)
    if (name == state) return true;
  return layout::check_artifact_name(name).ok();
}

Result<std::string> read_content(archive* in, archive_entry* entry, std::size_t& total) {
  const la_int64_t size = archive_entry_size(entry);
  if (size < 0 || static_cast<std::size_t>(size) > bundle_bytes_max - total)
    return refusal("it is too large");
  total += static_cast<std::size_t>(size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const la_ssize_t count = archive_read_data(in, bytes.data(), bytes.size());
  if (count != static_cast<la_ssize_t>(size)) return refusal("it is cut");
  return bytes;
}

Result<std::map<std::string, std::string>> read_entries(std::string_view bytes) {
  const std::unique_ptr<archive, CloseReader> in(archive_read_new());
  archive_read_support_format_tar(in.get());
  if (archive_read_open_memory(in.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return refusal("it is no tar file");
  std::map<std::string, std::string> entries;
  std::size_t total = 0;
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(in.get(), &entry);
    if (status == ARCHIVE_EOF) return entries;
    if (status != ARCHIVE_OK) return refusal("it is cut or altered");
    const char* raw = archive_entry_pathname(entry);
    const std::string name = raw == nullptr ? "" : raw;
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr)
      return refusal(quoted(name) + " is not a regular file");
    if (!allowed_name(name)) return refusal(quoted(name) + " is no name of a session's file");
    if (entries.size() >= bundle_files_max) return refusal("it has too many files");
    SESSIOND_ASSIGN(std::string content, read_content(in.get(), entry, total));
    if (!entries.emplace(name, std::move(content)).second) return refusal(quoted(name) + " is there twice");
  }
}

// Every line must be whole, and the last one of ours at the revision that the bundle claims.
Status check_history(const Bundle& bundle) {
  std::string_view rest = bundle.history;
  std::int64_t revision = 0;
  std::int64_t seq = 0;
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    if (newline == std::string_view::npos) return refusal("its history is cut");
    const ReadLine read = read_history_line(rest.substr(0, newline));
    rest.remove_prefix(newline + 1);
    if (read.state == LineState::bad) return refusal("its history has a bad line: " + std::string(read.why));
    if (read.state == LineState::foreign) continue;
    if (read.line.seq != seq + 1 || read.line.revision < revision)
      return refusal("lines of its history are missing");
    seq = read.line.seq;
    revision = read.line.revision;
  }
  if (seq == 0 || revision != bundle.revision)
    return refusal("its history does not lead to revision " + std::to_string(bundle.revision));
  return {};
}

Result<Bundle> check_entries(std::map<std::string, std::string> entries) {
  const auto manifest_text = entries.find(std::string(manifest_name));
  if (manifest_text == entries.end()) return refusal("bundle.json is missing");
  const Result<json::value> manifest = parse_json(manifest_text->second);
  if (!manifest || !manifest->is_object()) return refusal("bundle.json is not readable");
  const json::object& about = manifest->get_object();
  if (int_or(about, "format", 0) != format_version)
    return refusal("its format is another than " + std::to_string(format_version));
  const json::object* files = object_member(about, "files");
  if (files == nullptr || files->size() + 1 != entries.size())
    return refusal("its files are not those it lists");
  Bundle bundle{std::string(string_or(about, "kind", "")),
                std::string(string_or(about, "session_id", "")),
                int_or(about, "revision", 0),
                "",
                {}};
  for (const auto& [name, hash] : *files) {
    const auto found = entries.find(std::string(name));
    if (found == entries.end()) return refusal(quoted(name) + " is missing");
    if (!hash.is_string() || hash.get_string() != sha256_hex(found->second))
      return refusal(quoted(name) + " was altered");
    if (name == layout::history)
      bundle.history = std::move(found->second);
    else
      bundle.files.push_back({found->first, std::move(found->second)});
  }
  SESSIOND_TRY(check_history(bundle));
  return bundle;
}

}  // namespace

Result<std::string> pack_bundle(const Bundle& bundle) {
  const std::unique_ptr<archive, CloseWriter> out(archive_write_new());
  std::string bytes;
  archive_write_set_format_pax_restricted(out.get());
  archive_write_set_bytes_in_last_block(out.get(), 1);
  if (archive_write_open2(out.get(), &bytes, nullptr, append_to_string, nullptr, nullptr) != ARCHIVE_OK)
    return Error(ErrorCode::internal, std::string("cannot pack: ") + archive_error_string(out.get()));
  SESSIOND_TRY(write_entry(out.get(), manifest_name, to_pretty_json(make_manifest(bundle)) + "\n"));
  SESSIOND_TRY(write_entry(out.get(), layout::history, bundle.history));
  for (const StateBytes& file : bundle.files) SESSIOND_TRY(write_entry(out.get(), file.name, file.bytes));
  if (archive_write_close(out.get()) != ARCHIVE_OK)
    return Error(ErrorCode::internal, std::string("cannot pack: ") + archive_error_string(out.get()));
  return bytes;
}

Result<Bundle> unpack_bundle(std::string_view bytes) {
  if (bytes.size() > bundle_bytes_max) return refusal("it is too large");
  SESSIOND_ASSIGN(auto entries, read_entries(bytes));
  return check_entries(std::move(entries));
}

bool looks_like_bundle(std::string_view bytes) {
  return bytes.starts_with(manifest_name) || (bytes.size() > 512 && bytes.substr(257, 5) == "ustar");
}

}  // namespace sessiond
