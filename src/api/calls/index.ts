// The endpoints of calls: making one, and those that are up.
import { createCall } from './create-call.ts'
import { liveCallRoutes } from './live-calls.ts'

export const callRoutes = [createCall, ...liveCallRoutes]
