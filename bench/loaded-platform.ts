// The platform as the call benchmarks use it: pinned to one core, with room for all calls and no limit of requests.
import { startPlatform, unlimited, type Platform } from '../test/support/platform-process.ts'
import { platformCore } from './cores.ts'
import { median } from './figure.ts'
import { load } from './http.ts'

interface LoadedOptions {
  readonly firstRtpPort?: number
  readonly lastRtpPort?: number
  /** False runs it without pinning; by default its threads share one core. */
  readonly isPinned?: boolean
  readonly env?: Readonly<Record<string, string>>
}

export function startLoadedPlatform(options: LoadedOptions = {}): Promise<Platform> {
  const { firstRtpPort = 40_000, lastRtpPort = 40_999, isPinned = true, env = {} } = options
  return startPlatform({
    ...(isPinned ? { core: platformCore } : {}),
    env: {
      SWITCHHOOK_LOG_LEVEL: 'warn',
      SWITCHHOOK_RTP_PORTS: `${firstRtpPort}-${lastRtpPort}`,
      SWITCHHOOK_ACCOUNT_SHARE: '100',
      ...unlimited,
      ...env,
    },
  })
}

/** Returns the main thread's cost of an authenticated GET at full speed, in ms. */
export async function costOfGet({ pid, httpPort }: Platform, account_sid: string): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round < 4; round += 1)
    costs.push((await load(pid, httpPort, `/v1/Accounts/${account_sid}`, 4)).mainCpuMs)
  // The first round is the warm-up.
  return median(costs.slice(1))
}
