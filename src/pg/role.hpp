// Switches to another role for a while: only for our own statements on our own tables. User code
// runs in an OwnerScope (owner_scope.hpp).
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// Acts as a role until the end of the scope. If an error unwinds it, the rollback that must follow
/// does the same again, harmlessly.
class RoleScope final {
 public:
  explicit RoleScope(Oid role) noexcept {
    GetUserIdAndSecContext(&caller_, &context_);
    SetUserIdAndSecContext(role, context_ | SECURITY_LOCAL_USERID_CHANGE);
  }
  ~RoleScope() { SetUserIdAndSecContext(caller_, context_); }
  RoleScope(const RoleScope&) = delete;
  RoleScope& operator=(const RoleScope&) = delete;

 private:
  Oid caller_ = InvalidOid;
  int context_ = 0;
};

}  // namespace ai::pg
