// The endpoints of calls: making a call, and reading and changing those that are up.
import { listConferences } from './conferences.ts'
import { createCall } from './create-call.ts'
import { createDryRun } from './dry-run.ts'
import { liveCallRoutes } from './live-calls.ts'
import { updateCallRoutes } from './update-call.ts'

export const callRoutes = [createCall, createDryRun, ...liveCallRoutes, ...updateCallRoutes, listConferences]
