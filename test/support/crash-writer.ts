// The process of durability.test.ts that writes, and reports what was acknowledged, until it is killed.
import { systemTenancy } from '../../src/contracts/caller.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createStorage } from '../../src/storage/create-storage.ts'
import { endedCall } from './ended-calls.ts'

/** Writes with `writers` in parallel, and calls beside them. `report` is called with each acknowledged name. */
export async function writeForEver(
  dataDir: string,
  round: number,
  writers: number,
  report: (name: string) => void,
): Promise<void> {
  const storage = createStorage({ dataDir, clock: systemClock, log: silentLogger })
  await storage.start()
  const { service_providers } = storage.for(systemTenancy)
  const one = async (writer: number): Promise<void> => {
    for (let n = 0; ; n++) {
      const name = `${round}-${writer}-${n}`
      await service_providers.insert({ name, description: 'x'.repeat(200) })
      report(name)
    }
  }
  const account = { account_sid: 'account', service_provider_sid: 'provider' }
  const call = async (): Promise<void> => {
    for (let n = 0; ; n++) {
      storage.calls.write(endedCall(account, { attempted_at: n * 600_000 }), 'now')
      if (n % 10 === 0) await storage.calls.flush()
      if (n % 50 === 0) await storage.expired.remove('recent_calls', n * 300_000, 20)
    }
  }
  await Promise.all([call(), ...Array.from({ length: writers }, (_, writer) => one(writer))])
}
