// Makes the call engine from its settings and from the parts that app.ts passes in.
import { createMainThreadLoad } from '../lib/bounds/main-thread-load.ts'
import { ThreadTime } from '../lib/bounds/thread-time.ts'
import { defaultSharePercent } from '../lib/bounds/tenant-pool.ts'
import type { CallHandlers, Calls, CallsOptions } from './calls.ts'
import { CallEngine } from './engine.ts'
import { createAlertingStore } from './journal/alerts.ts'

const defaultMaxCalls = 2000
// A call that lasts three hours has been forgotten by both ends.
const defaultMaxCallMs = 180 * 60_000

export function createCalls(options: CallsOptions): Calls & CallHandlers {
  const { alerts, usage, store, publicAddress, apiBaseUrl, ...parts } = options
  const { maxCalls = defaultMaxCalls, maxMedia = Infinity, sharePercent = defaultSharePercent } = options
  const { maxCallMs = defaultMaxCallMs, ringingMs = 0, mainThreadLoad = createMainThreadLoad() } = options
  const { threadTime = new ThreadTime(options) } = options
  return new CallEngine({
    ...parts,
    store: alerts === undefined ? store : createAlertingStore(store, alerts),
    alerts,
    usage,
    publicAddress,
    apiBaseUrl,
    maxCalls,
    maxCallMs,
    mainThreadLoad,
    threadTime,
    ringingMs,
    pool: { size: Math.min(maxCalls, maxMedia), percent: sharePercent },
  })
}
