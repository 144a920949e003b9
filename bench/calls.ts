// The cost of a whole inbound call under load: digest, call hook, 200, ACK, BYE, three status hooks, the record.
import { setTimeout as delay } from 'node:timers/promises'
import { provision, type Platform, type Tenant } from '../test/support/platform-process.ts'
import { startSipp, type SippResult } from '../test/support/sipp.ts'
import { until } from '../test/support/wait.ts'
import type { Figure } from './figure.ts'
import { startHookServer } from './hook-server.ts'
import { loadCore } from './cores.ts'
import { costOfGet, startLoadedPlatform } from './loaded-platform.ts'
import { mainThreadCpuMs, openDescriptors, processCpuMs, residentMb } from './proc.ts'

const talkMs = 100
const fullSeconds = 20

interface State {
  readonly mainMs: number
  readonly allMs: number
  readonly memoryMb: number
  readonly descriptors: number
}

export function stateOf(pid: number): State {
  return {
    mainMs: mainThreadCpuMs(pid),
    allMs: processCpuMs(pid),
    memoryMb: residentMb(pid),
    descriptors: openDescriptors(pid),
  }
}

export async function measureCalls({ seconds = 60, callsPerSecond = 100 } = {}): Promise<Figure[]> {
  const hooks = await startHookServer()
  const platform = await startLoadedPlatform()
  try {
    const application = { url: (path: string) => `${hooks.origin}${path}` }
    const tenant = await provision(platform.api, { application })
    // The warm-up compiles the hot paths and fills the caches, so that later growth of memory is real growth.
    await placeCalls(platform, tenant, { calls: 1000, callsPerSecond, talkMs })
    await recordsOf(platform, tenant, 1000)
    await until('the status hooks of the warm-up', () => hooks.counts.statuses >= 3000, { everyMs: 200 })
    const warm = stateOf(platform.pid)
    const beforeHooks = { ...hooks.counts }

    const calls = seconds * callsPerSecond
    const result = await placeCalls(platform, tenant, { calls, callsPerSecond, talkMs })
    const recorded = await recordsOf(platform, tenant, 1000 + calls)
    await until('the last status hook', () => hooks.counts.statuses - beforeHooks.statuses >= calls * 3, {
      timeoutMs: 30_000,
      everyMs: 200,
    }).catch(() => undefined)
    const busy = stateOf(platform.pid)
    // Sockets of the keep-alive pools, and transactions in their last state, end by themselves in this time.
    await delay(40_000)
    const after = stateOf(platform.pid)
    const outcome: Outcome = {
      calls,
      result,
      recorded: recorded - 1000,
      statuses: hooks.counts.statuses - beforeHooks.statuses,
      warm,
      busy,
      after,
      label: `${callsPerSecond} calls/s for ${seconds} s`,
    }
    return [...figures(outcome), ...(await fullCore(platform, tenant, outcome))]
  } finally {
    await platform.remove()
    hooks.close()
  }
}

/**
 * Compares calls with GETs. The cost of either falls by more than half from an idle core to a fully loaded one,
 * because a thread that wakes for each packet pays for waking up. Both are therefore measured on a fully loaded core.
 */
async function fullCore(platform: Platform, tenant: Tenant, paced: Outcome): Promise<Figure[]> {
  const get = await costOfGet(platform, tenant.account_sid)
  // The rate at which calls at the cost of the paced ones would fill the core.
  const callsPerSecond = Math.floor(1000 / ((paced.busy.allMs - paced.warm.allMs) / paced.calls))
  const calls = callsPerSecond * fullSeconds
  const before = stateOf(platform.pid)
  const result = await placeCalls(platform, tenant, { calls, callsPerSecond, talkMs })
  const busy = stateOf(platform.pid)
  const mainMs = (busy.mainMs - before.mainMs) / calls
  const ratio = mainMs / get
  return [
    {
      what: `inbound call, main-thread CPU (${callsPerSecond} calls/s for ${fullSeconds} s)`,
      target: '-',
      figure: `${mainMs.toFixed(2)} ms, ${calls - result.successful} of ${calls} failed, ${result.retransmissions} retransmissions`,
    },
    {
      what: 'the same in authenticated GETs at full speed',
      target: 'at most 60',
      figure: `${ratio.toFixed(0)} (a GET ${get.toFixed(3)} ms)`,
      isMet: ratio <= 60,
    },
    {
      what: `inbound call at ${paced.label} in authenticated GETs at full speed`,
      target: '-',
      figure: ((paced.busy.mainMs - paced.warm.mainMs) / paced.calls / get).toFixed(0),
    },
  ]
}

interface Load {
  readonly calls: number
  readonly callsPerSecond: number
  readonly talkMs: number
}

/** Places calls whose callers hang up after `talkMs`. */
export async function placeCalls(
  platform: Platform,
  tenant: Tenant,
  { calls, callsPerSecond, talkMs }: Load,
): Promise<SippResult> {
  const { realm, username, password, target } = tenant
  const sipp = await startSipp({
    scenario: 'call-bye',
    target: platform.sip,
    username,
    password,
    calls,
    callsPerSecond,
    timeoutSeconds: Math.ceil(calls / callsPerSecond) + 60,
    keepMessages: false,
    core: loadCore,
    values: { realm, username, target, talkMs, byeHeader: '' },
  })
  return await sipp.finished
}

/** Returns the number of records once no call is live any more. */
export async function recordsOf(
  { api }: Platform,
  { account_sid }: Tenant,
  expected: number,
): Promise<number> {
  const path = `/Accounts/${account_sid}`
  const total = async (): Promise<number> =>
    (await api.must<{ total: number }>('GET', `${path}/RecentCalls?page=1&count=1`)).total
  await until(
    'the calls to end',
    async () => {
      const { inbound } = await api.must<{ inbound: number }>('GET', `${path}/CallCount`)
      return inbound === 0 && (await total()) >= expected
    },
    { timeoutMs: 60_000, everyMs: 500 },
  ).catch(() => undefined)
  return await total()
}

interface Outcome {
  readonly calls: number
  readonly result: SippResult
  readonly recorded: number
  readonly statuses: number
  readonly warm: State
  readonly busy: State
  readonly after: State
  readonly label: string
}

function figures({ calls, result, recorded, statuses, warm, busy, after, label }: Outcome): Figure[] {
  const mainMs = (busy.mainMs - warm.mainMs) / calls
  const allMs = (busy.allMs - warm.allMs) / calls
  const growthMb = after.memoryMb - warm.memoryMb
  const descriptors = after.descriptors - warm.descriptors
  return [
    {
      what: `inbound call, main-thread CPU (${label})`,
      target: 'at most 2 ms',
      figure: `${mainMs.toFixed(2)} ms (${allMs.toFixed(2)} ms all threads)`,
      isMet: mainMs <= 2,
    },
    {
      what: 'failed calls',
      target: '0',
      figure: `${calls - result.successful} of ${calls}, ${result.retransmissions} retransmissions`,
      isMet: result.successful === calls,
    },
    {
      what: 'records written; status hooks delivered',
      target: `${calls}; ${calls * 3}`,
      figure: `${recorded}; ${statuses}`,
      isMet: recorded === calls && statuses === calls * 3,
    },
    {
      what: 'resident memory afterwards, against after warm-up',
      target: 'no growth (under 20 MB)',
      figure: `${growthMb >= 0 ? '+' : ''}${growthMb.toFixed(0)} MB (${warm.memoryMb.toFixed(0)} to ${after.memoryMb.toFixed(0)})`,
      isMet: growthMb < 20,
    },
    {
      what: 'open descriptors afterwards, against after warm-up',
      target: 'no growth',
      figure: `${descriptors >= 0 ? '+' : ''}${descriptors} (${after.descriptors})`,
      isMet: descriptors <= 0,
    },
  ]
}
