// The options of `config.record` and their execution, also for the command `record`.
import { AppError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import type { Given } from './define-verb.ts'
import { optional } from './schemas.ts'
import { Type } from '../../lib/type.ts'
import type { Static } from 'typebox'

const maxServers = 8
const actions = [
  'startCallRecording',
  'stopCallRecording',
  'pauseCallRecording',
  'resumeCallRecording',
] as const

const server = Type.String({ minLength: 1, maxLength: 1024 })

export const record = Type.Object(
  {
    action: Type.Union(
      actions.map((action) => Type.Literal(action)),
      {
        description:
          'What to do with the recording. While it is paused, a recording server is sent no audio, and a recording of type `cloud` contains silence. It contains nothing between a stop and the next start.',
      },
    ),
    type: Type.Optional(
      Type.Union([Type.Literal('siprec'), Type.Literal('cloud')], {
        description:
          '`siprec`: by a recording server (RFC 7866), which gets what the far end says and what it hears as two streams. `cloud`: by the platform, in stereo, as a file for the bucket of the account; a start before the answer is remembered. Left out, a start is of type `siprec`, and the other actions are for whatever records the call, both where both do; where nothing does, the journal says so.',
      }),
    ),
    siprecServerURL: Type.Optional(
      Type.Union([server, Type.Array(server, { minItems: 1, maxItems: maxServers })], {
        description: `The SIP URI of the recording server, or a list of up to ${maxServers}, tried one after the other, also when one is lost later. Needed to start with \`siprec\`: without it the call is not recorded, and an alert says so.`,
      }),
    ),
    recordingID: Type.Optional(
      Type.String({
        maxLength: 256,
        ...printable,
        description: 'Your name for the recording, sent in `X-Recording-ID` and in the metadata.',
      }),
    ),
    headers: optional.headers('Headers of the INVITE to the recording server.'),
  },
  {
    description:
      'Records the call once it is answered. If the recording server refuses, ends the recording or is gone, and no other one is left, the call continues, and an alert is raised.',
  },
)

/** Throws AppError recording_server_missing for a start without a server, or the error that forbids a recording. */
export async function applyRecord(
  { action, type, siprecServerURL, recordingID, headers = {} }: Static<typeof record>,
  { siprec, recording }: Given<'siprec' | 'recording'>,
): Promise<void> {
  if (type === 'cloud') return applyCloud(action, recording)
  if (type === undefined && action !== 'startCallRecording') return recording.changeRunning(action)
  if (action === 'stopCallRecording') return siprec.stop()
  if (action === 'pauseCallRecording') return siprec.pause()
  if (action === 'resumeCallRecording') return siprec.resume()
  if (siprecServerURL === undefined)
    throw new AppError('recording_server_missing', 'record: siprecServerURL is needed to start a recording')
  const named = recordingID === undefined ? {} : { recordingId: recordingID }
  siprec.start({ servers: [siprecServerURL].flat(), headers, ...named })
}

async function applyCloud(
  action: (typeof actions)[number],
  recording: Given<'recording'>['recording'],
): Promise<void> {
  if (action === 'startCallRecording') await recording.start()
  else await recording.change(action)
}
