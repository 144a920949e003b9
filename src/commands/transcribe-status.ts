// The command transcribe_status: sets what the recognisers of a call hear.
import type { StreamMode } from '../contracts/audio-stream.ts'
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

const modes = { pause: 'paused', silence: 'silent', resume: 'on' } as const satisfies Record<
  string,
  StreamMode
>

export const transcribeStatus = defineCommand({
  name: 'transcribe_status',
  frame: 'transcribe:status',
  description:
    'What the transcriptions of the call hear: of the verb `transcribe`, of a `dial`, and in the background. `pause`: nothing, and nothing is transcribed. `silence`: silence. `resume`: the audio of the call.',
  example: 'pause',
  value: oneOf(['pause', 'silence', 'resume']),
  needs: 'transcription',
  ready: (status, { leg }) => ({ outcome: status, apply: () => leg.ears.setMode(modes[status]) }),
})
