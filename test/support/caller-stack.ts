// A SIP stack on loopback without users: it calls the platform or is called by it.
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createSip } from '../../src/sip/create-sip.ts'
import type { Sip, SipOptions } from '../../src/sip/sip.ts'

/** Creates the stack. It answers calls with busy unless `invited` is given. */
export function createCallerStack(
  userAgent: string,
  {
    invited = (invite) => invite.reject({ status: 486 }),
    ...more
  }: Partial<Pick<SipOptions['handlers'], 'invited'> & Pick<SipOptions, 'serves'>> = {},
): Sip {
  return createSip({
    bind: '127.0.0.1',
    port: 0,
    directory: { realmState: async () => 'unknown', findUser: async () => undefined },
    handlers: { invited },
    clock: systemClock,
    log: silentLogger,
    userAgent,
    ...more,
  })
}
