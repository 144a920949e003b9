// The verb alert: raises an alert, and shows it on the phone of a caller that is not answered yet.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'

export const alert = defineVerb({
  name: 'alert',
  summary:
    'Raises an alert of the account; a caller that is not answered yet gets 180 with the message as Alert-Info.',
  example: [
    { verb: 'alert', message: 'info=alert-internal' },
    { verb: 'dial', target: [{ type: 'user', name: 'alice' }], answerOnBridge: true },
  ],
  needs: 'nothing',
  uses: ['alerting'],
  schema: Type.Object({
    message: Type.String({ minLength: 1, maxLength: 1024, description: 'The message of the alert.' }),
  }),
  execute({ message }, { alerting }) {
    alerting.alert(message)
    return Promise.resolve()
  },
})
