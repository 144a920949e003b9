// The verb hangup: ends the call.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { optional } from './define/schemas.ts'

export const hangup = defineVerb({
  name: 'hangup',
  summary:
    'Ends an answered call. A call that came in and is not answered is refused with 603, or as the `dial` before it was, once no verb is left after `hangup`, also when the application is asked over a WebSocket; `sip:decline` refuses it with a status that you choose.',
  example: [
    { verb: 'say', text: 'Goodbye.' },
    { verb: 'hangup', headers: { 'X-Reason': 'closing time' } },
  ],
  needs: 'answered',
  uses: ['signalling'],
  schema: Type.Object({ headers: optional.headers('SIP headers of the BYE.') }),
  async execute({ headers }, { signalling }) {
    signalling.hangUp(headers)
  },
})
