// The command call_status: ends the call, with no-answer if it is not answered, and with completed if it is.
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

export const callStatus = defineCommand({
  name: 'call_status',
  frame: 'call:status',
  description: 'Ends the call: `completed` one that was answered, `no-answer` one that was not.',
  example: 'completed',
  value: oneOf(['completed', 'no-answer']),
  isUrgent: true,
  needs: (status) => (status === 'completed' ? 'answered' : 'unanswered'),
  cure: (status) => `Send call_status ${status === 'completed' ? 'no-answer' : 'completed'}.`,
  ready: (status, { leg }) => ({
    outcome: status,
    // The leg has ended when this returns. The far end's response to the BYE is not awaited.
    apply: () => void leg.hangUp({ because: `a client of the REST API ended it with call_status ${status}` }),
  }),
})
