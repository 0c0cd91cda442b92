// Working with the rights of another role for a while.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// How much the other role can be made to do.
enum class RoleTrust {
  kOurs,   // only statements of ours on tables of ours: the owner of the extension
  kUsers,  // statements that run what users wrote: a security-restricted operation
};

/// Acts as a role until the end of the scope. If an error unwinds it, the rollback that must follow
/// does the same again, harmlessly.
class RoleScope final {
 public:
  RoleScope(Oid role, RoleTrust trust) noexcept {
    GetUserIdAndSecContext(&caller_, &context_);
    const int restricted = trust == RoleTrust::kUsers ? SECURITY_RESTRICTED_OPERATION : 0;
    SetUserIdAndSecContext(role, context_ | SECURITY_LOCAL_USERID_CHANGE | restricted);
  }
  ~RoleScope() { SetUserIdAndSecContext(caller_, context_); }
  RoleScope(const RoleScope&) = delete;
  RoleScope& operator=(const RoleScope&) = delete;

 private:
  Oid caller_ = InvalidOid;
  int context_ = 0;
};

}  // namespace ai::pg
