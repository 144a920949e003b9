// The cost of the list of live calls while a thousand are up.
import { provision } from '../test/support/platform-process.ts'
import { startSipp } from '../test/support/sipp.ts'
import { until } from '../test/support/wait.ts'
import { load } from './api-load.ts'
import type { Figure } from './figure.ts'
import { answerAndPause, startHookServer } from './hook-server.ts'
import { loadCore } from './cores.ts'
import { startLoadedPlatform } from './loaded-platform.ts'
import { mainThreadCpuMs } from './proc.ts'

const calls = 1000
// Slow enough for a machine three times slower; the calls last longer than the whole measurement there.
const callsPerSecond = 40
const talkSeconds = 600
const maxSetUpMs = 300_000
const maxMs = 2
const seconds = 5

export async function measureLiveCalls(): Promise<Figure[]> {
  const hooks = await startHookServer(answerAndPause(talkSeconds))
  const platform = await startLoadedPlatform({ lastRtpPort: 42_999 })
  try {
    const application = { url: (path: string) => `${hooks.origin}${path}` }
    const { account_sid, realm, username, password, target } = await provision(platform.api, { application })
    const sipp = await startSipp({
      scenario: 'call-bye',
      target: platform.sip,
      username,
      password,
      calls,
      callsPerSecond,
      timeoutSeconds: talkSeconds,
      keepMessages: false,
      core: loadCore,
      values: { realm, username, target, talkMs: talkSeconds * 1000, byeHeader: '' },
    })
    try {
      const path = `/Accounts/${account_sid}`
      // A machine that is too slow for the audio of all calls refuses some; the calls that are up are measured.
      const areUp = async (): Promise<number | undefined> => {
        const { inbound } = await platform.api.must<{ inbound: number }>('GET', `${path}/CallCount`)
        const { total } = await platform.api.must<{ total: number }>(
          'GET',
          `${path}/RecentCalls?page=1&count=25`,
        )
        return inbound > 0 && inbound + total >= calls ? inbound : undefined
      }
      const up = await until('the calls to be up', areUp, { everyMs: 200, timeoutMs: maxSetUpMs })
      const idle = await idleMsPerSecond(platform.pid)
      const work = { what: 'live calls', path: `/v1${path}/Calls`, maxMs, connections: 8 }
      const { mainMs, perSecond, refused } = await load(platform.pid, platform.httpPort, work, seconds)
      const ofList = mainMs - idle / perSecond
      return [
        {
          what: `list of ${up} live calls, main-thread CPU`,
          target: `at most ${maxMs} ms`,
          figure: `${ofList.toFixed(2)} ms (${perSecond.toFixed(0)}/s; the calls themselves ${idle.toFixed(0)} ms a second, left out${refused > 0 ? `; ${refused} REFUSED` : ''})`,
          isMet: ofList <= maxMs && refused === 0,
        },
      ]
    } finally {
      await sipp.stop()
    }
  } finally {
    await platform.remove()
    hooks.close()
  }
}

/** Returns the main thread's time for just holding the calls. */
async function idleMsPerSecond(pid: number): Promise<number> {
  const [at, used] = [performance.now(), mainThreadCpuMs(pid)]
  await new Promise((resolve) => setTimeout(resolve, 3000))
  return ((mainThreadCpuMs(pid) - used) * 1000) / (performance.now() - at)
}
