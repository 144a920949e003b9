// The routes below /Accounts that are about the account itself.
import { accounts } from './account.ts'
import { sipRealms, webhookSecret } from './account-routes.ts'
import { testBucket } from './test-bucket.ts'

export const accountRoutes = [...accounts.routes, webhookSecret, sipRealms, testBucket]
export { accounts }
