// The routes below /Users.
import type { ApiRoute } from '../define/route.ts'
import { createGetMe, getUser, listUsers, type MeResources } from './read-users.ts'
import { updateUser } from './update-user.ts'
import { createUser, deleteUser } from './write-users.ts'

export function createUserRoutes(resources: MeResources): readonly ApiRoute[] {
  return [listUsers, createUser, createGetMe(resources), getUser, updateUser, deleteUser]
}
