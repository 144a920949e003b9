// The main-thread cost of a bridged call: both legs, a dial to a SIP address, two BYEs, the hooks and records of both.
import { provision } from '../test/support/platform-process.ts'
import { startSipp } from '../test/support/sipp.ts'
import { until } from '../test/support/wait.ts'
import { placeCalls, recordsOf, stateOf } from './calls.ts'
import type { Figure } from './figure.ts'
import { startHookServer } from './hook-server.ts'
import { loadCore } from './cores.ts'
import { costOfGet, startLoadedPlatform } from './loaded-platform.ts'

const warmUpCalls = 500
const talkMs = 500
// Both legs report trying, in-progress and completed; the dialled leg also reports ringing.
const statusesOfCall = 7

export async function measureBridgedCalls({ seconds = 60, callsPerSecond = 50 } = {}): Promise<Figure[]> {
  const callee = await startSipp({
    scenario: 'uas-answer',
    calls: warmUpCalls + seconds * callsPerSecond,
    keepMessages: false,
    core: loadCore,
    timeoutSeconds: seconds + 300,
  })
  const target = [{ type: 'sip', sipUri: `sip:bob@127.0.0.1:${callee.port}` }]
  const hooks = await startHookServer([{ verb: 'dial', target }])
  const platform = await startLoadedPlatform()
  try {
    const application = { url: (path: string) => `${hooks.origin}${path}` }
    const tenant = await provision(platform.api, { application, isBusy: true })
    const place = (calls: number) => placeCalls(platform, tenant, { calls, callsPerSecond, talkMs })
    await place(warmUpCalls)
    await recordsOf(platform, tenant, warmUpCalls * 2)
    const get = await costOfGet(platform, tenant.account_sid)

    const before = { ...stateOf(platform.pid), statuses: hooks.counts.statuses }
    const calls = seconds * callsPerSecond
    const result = await place(calls)
    const records = (await recordsOf(platform, tenant, (warmUpCalls + calls) * 2)) - warmUpCalls * 2
    const statuses = (): number => hooks.counts.statuses - before.statuses
    await until('the last status hook', () => statuses() >= calls * statusesOfCall, {
      timeoutMs: 30_000,
      everyMs: 200,
    }).catch(() => undefined)
    const after = stateOf(platform.pid)
    const mainMs = (after.mainMs - before.mainMs) / calls
    const allMs = (after.allMs - before.allMs) / calls
    return [
      {
        what: `bridged call, main-thread CPU (${callsPerSecond} calls/s for ${seconds} s)`,
        target: '-',
        figure: `${mainMs.toFixed(2)} ms (${allMs.toFixed(2)} ms all threads)`,
      },
      {
        what: 'the same in authenticated GETs of the run',
        target: 'at most 110',
        figure: `${(mainMs / get).toFixed(0)} (a GET ${get.toFixed(3)} ms)`,
        isMet: mainMs / get <= 110,
      },
      {
        what: 'failed calls',
        target: '0',
        figure: `${calls - result.successful} of ${calls}, ${result.retransmissions} retransmissions`,
        isMet: result.successful === calls,
      },
      {
        what: 'records written; status hooks delivered',
        target: `${calls * 2}; ${calls * statusesOfCall}`,
        figure: `${records}; ${statuses()}`,
        isMet: records === calls * 2 && statuses() === calls * statusesOfCall,
      },
    ]
  } finally {
    await platform.remove()
    hooks.close()
    await callee.stop()
  }
}
