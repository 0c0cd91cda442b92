// Tells the background processes about commands that create, alter or drop the extension, and about
// those that need a database without connections.
//
//   command                                          | hook           | what happens
//   CREATE, ALTER, DROP EXTENSION, by any way        | object access  | at commit: the database's
//                                                    |                | processes check it again
//   DROP DATABASE, ALTER DATABASE ... RENAME or      | ProcessUtility | its processes exit first,
//   SET TABLESPACE, CREATE DATABASE (its template)   |                | and restart at the end of
//                                                    |                | the transaction
#pragma once

namespace ai::worker {

/// Called when the library is preloaded.
void InstallDdlHooks();

}  // namespace ai::worker
