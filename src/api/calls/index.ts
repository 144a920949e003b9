// The endpoints of calls: making one, those that are up, and what may be asked of them.
import { createCall } from './create-call.ts'
import { liveCallRoutes } from './live-calls.ts'
import { updateCallRoutes } from './update-call.ts'

export const callRoutes = [createCall, ...liveCallRoutes, ...updateCallRoutes]
