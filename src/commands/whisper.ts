// The command whisper: verbs that only one side of a bridge hears, or a call that an audio server listens to.
import { defineCommand } from './define/define-command.ts'
import { json, verbOrList } from './define/values.ts'

export const whisper = defineCommand({
  name: 'whisper',
  frame: 'whisper',
  description:
    'A verb `say`, `play` or `pause`, or a list of them. Only the call that the path names hears it.',
  example: { verb: 'say', text: 'One minute left.' },
  value: json(verbOrList),
  needs: 'audience',
  joins: 'any',
  ready: (verbs, { whisper: begin }) => ({ outcome: 'whisper', start: begin(verbs) }),
})
