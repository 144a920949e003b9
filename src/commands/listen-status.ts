// The commands listen_status and stream_status: set what the audio servers of a call are sent.
import type { StreamMode } from '../contracts/audio-stream.ts'
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

const modes = { pause: 'paused', silence: 'silent', resume: 'on' } as const satisfies Record<
  string,
  StreamMode
>

const statusCommand = (name: 'listen_status' | 'stream_status', frame: string, description: string) =>
  defineCommand({
    name,
    frame,
    description,
    example: 'pause',
    value: oneOf(['pause', 'silence', 'resume']),
    needs: 'stream',
    ready: (status, { leg }) => ({ outcome: status, apply: () => leg.streams.setMode(modes[status]) }),
  })

export const listenStatus = statusCommand(
  'listen_status',
  'listen:status',
  'The audio for the audio servers of the call: of the verb `listen`, of a `dial`, and in the background. `pause`: nothing is sent. `silence`: silence is sent. `resume`: the audio of the call is sent.',
)

export const streamStatus = statusCommand('stream_status', 'stream:status', 'The same as `listen_status`.')
