// A gateway of a carrier that refuses each call with 486 and keeps the requests.
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createSip } from '../../src/sip/create-sip.ts'
import type { SipRequest } from '../../src/sip/message/message.ts'
import type { Sip, SipOptions } from '../../src/sip/sip.ts'
import { Inbox } from './wait.ts'

export interface RefusingCarrier {
  readonly sip: Sip
  readonly invites: Inbox<SipRequest>
}

/** Starts the gateway. `secure` is its certificate, for calls over TLS. */
export async function startRefusingCarrier(
  secure?: SipOptions['secure'],
  status = 486,
): Promise<RefusingCarrier> {
  const invites = new Inbox<SipRequest>()
  const sip = createSip({
    bind: '127.0.0.1',
    port: 0,
    ...(secure === undefined ? {} : { secure }),
    directory: { realmState: async () => 'unknown', findUser: async () => undefined },
    clock: systemClock,
    log: silentLogger,
    userAgent: 'Carrier',
    handlers: {
      invited: (invite) => {
        invites.push(invite.request)
        invite.reject({ status })
      },
    },
  })
  await sip.start()
  return { sip, invites }
}
