// The verb hangup: ends the call.
import { Type } from './define/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { optional } from './define/schemas.ts'

export const hangup = defineVerb({
  name: 'hangup',
  summary: 'Ends an answered call.',
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
