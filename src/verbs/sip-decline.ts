// The verb sip:decline: refuses a call that is not answered.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { optional } from './define/schemas.ts'

export const sipDecline = defineVerb({
  name: 'sip:decline',
  summary: 'Refuses an unanswered call with a SIP status.',
  example: [{ verb: 'sip:decline', status: 486, reason: 'Closed', headers: { 'Retry-After': '3600' } }],
  needs: 'unanswered',
  uses: ['signalling'],
  schema: Type.Object({
    status: Type.Integer({ minimum: 300, maximum: 699, description: 'SIP status of the final response.' }),
    reason: optional.text('Reason phrase; the usual one of the status when left out.'),
    headers: optional.headers('SIP headers of the response.'),
  }),
  async execute(options, { signalling }) {
    signalling.decline(options)
  },
})
