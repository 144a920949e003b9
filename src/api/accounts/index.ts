// Everything below /Accounts that is about the account itself.
import { accounts } from './account.ts'
import { sipRealms, webhookSecret } from './account-routes.ts'

export const accountRoutes = [...accounts.routes, webhookSecret, sipRealms]
export { accounts }
