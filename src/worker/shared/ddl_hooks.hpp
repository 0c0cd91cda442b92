// What the processes have to know of commands: those that bring, change or remove the extension,
// and those that need a database without any connection.
//
//   command                                          | hook           | what happens
//   CREATE, ALTER, DROP EXTENSION, by any way        | object access  | at commit: who serves the
//                                                    |                | database looks at it again
//   DROP DATABASE, ALTER DATABASE ... RENAME or SET  | ProcessUtility | its processes end first; at
//   the TABLESPACE, CREATE DATABASE (for its template)   |                | end of the transaction
//   they
//                                                    |                | come back
#pragma once

namespace ai::worker {

/// Called when the library is preloaded.
void InstallDdlHooks();

}  // namespace ai::worker
