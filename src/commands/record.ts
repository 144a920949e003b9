// The command record: the option `record` of `config`, for the leg that the path names.
import { changeRunning, readyRecording } from '../calls/command.ts'
import { AppError } from '../lib/errors.ts'
import { printable } from '../lib/printable.ts'
import { Type } from '../lib/type.ts'
import { besideOf } from './define/beside.ts'
import { defineCommand } from './define/define-command.ts'
import { headers, json } from './define/values.ts'

const start = 'startCallRecording'
const server = { minLength: 1, maxLength: 1024 }

const schema = Type.Object({
  action: Type.Enum([start, 'stopCallRecording', 'pauseCallRecording', 'resumeCallRecording'], {
    type: 'string',
    description: 'What to do with the recording.',
  }),
  type: Type.Optional(
    Type.Enum(['siprec', 'cloud'], {
      type: 'string',
      description:
        '`siprec`: by a recording server. `cloud`: by the platform, for the bucket of the account. Left out, a start is of type `siprec`, and the other actions are for whatever records the call.',
    }),
  ),
  siprecServerURL: Type.Optional(
    Type.Union(
      [
        Type.String({ ...server, 'x-rule': 'must be a SIP URI, or a list of SIP URIs' }),
        Type.Array(Type.String(server), { minItems: 1, maxItems: 8 }),
      ],
      { description: 'SIP URIs of recording servers, tried one after the other.' },
    ),
  ),
  recordingID: Type.Optional(
    Type.String({ maxLength: 256, ...printable, description: 'Your name for the recording.' }),
  ),
  headers: headers('Headers of the INVITE to the recording server.'),
})

const recording: ReadonlySet<string> = new Set(['config'])

export const record = defineCommand({
  name: 'record',
  frame: 'record',
  description:
    'Starts, stops, pauses or resumes a recording, as `record` of the verb `config` does. A start of type `siprec` needs `siprecServerURL`.',
  example: { action: 'startCallRecording', type: 'cloud' },
  value: json(schema, ({ action, type = 'siprec', siprecServerURL }) => {
    if (type === 'siprec' && action === start && siprecServerURL === undefined)
      throw new AppError('bad_request', 'record: siprecServerURL is needed to start a recording', {
        cure: 'Name the recording server in siprecServerURL, or set type to cloud: the platform records then.',
      })
  }),
  needs: 'answered',
  ready({ action, ...options }, { leg }) {
    if (options.type === 'cloud') return { outcome: action, apply: readyRecording(leg, action) }
    if (options.type === undefined && action !== start)
      return { outcome: action, apply: () => changeRunning(leg, action) }
    return {
      outcome: action,
      start: besideOf(leg)({ verb: 'config', record: { ...options, action } }, recording),
    }
  },
})
