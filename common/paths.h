// Where things are when nobody says otherwise: the socket, the state directory, the configuration files. The
// daemon and the client agree because both ask here. Reads the environment; touches no file.
#pragma once

#include <string>
#include <vector>

namespace sessiond {

// $XDG_RUNTIME_DIR/sessiond.sock, or /tmp/sessiond-UID/sessiond.sock without a runtime directory.
std::string user_socket_path();
// Of the system service: /run/sessiond/sessiond.sock.
std::string system_socket_path();
// Of the daemon: $RUNTIME_DIRECTORY/sessiond.sock under a system unit, else the user's.
std::string default_socket_path();

// $STATE_DIRECTORY under a unit, else $XDG_STATE_HOME/sessiond, else ~/.local/state/sessiond.
std::string default_state_dir();

// Read in this order, later ones override: /etc/sessiond/sessiond.yaml,
// $XDG_CONFIG_HOME/sessiond/sessiond.yaml.
std::vector<std::string> config_paths();

}  // namespace sessiond
