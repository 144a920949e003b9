// The options of a recording in `conference`: where it is stored, instead of under the default name.
import type { RecordingWish } from '../../contracts/recording.ts'
import { Type } from '../../lib/type.ts'
import type { Static } from 'typebox'

// Names that no file system or bucket interprets. A day would look like the place of other recordings. The name of a
// file has at most 255 octets on a disk, and the call_sid is added to it.
const segment = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'
const day = '/?\\d{4}/\\d{2}/\\d{2}(/|$)'

export const roomRecord = Type.Object(
  {
    path: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: `^(?!${day})/?${segment}(/${segment})*/?$`,
        'x-rule':
          'must be a path of letters, digits, _, - and ., with at most 128 of them between two slashes, that does not begin with a day',
        description:
          'The folder of the file in the bucket of the account, or on the disk of the platform, instead of its day; the file in it is named `<call_sid>.mp3`. A path that ends with `.mp3` or `.wav` also sets the format, instead of `record_format` of the account: `weekly/team.wav` is stored as `weekly/team-<call_sid>.wav`. Letters, digits, `_`, `-` and `.`, at most 128 between two slashes; it may not begin with a day.',
      }),
    ),
  },
  {
    description:
      'Records the conference in stereo, from the side of one of its calls, as the recording of that call. It is the first call that has `record`; when it leaves, the next call that has it is recorded, in a recording of its own. A call that is already recorded has the conference in its recording anyway.',
  },
)

export function toWish({ path }: Static<typeof roomRecord>): RecordingWish | undefined {
  if (path === undefined) return undefined
  const place = path.replaceAll(/^\/|\/$/g, '')
  const named = /^(.*)\.(mp3|wav)$/i.exec(place)
  if (named === null) return { prefix: `${place}/` }
  const [, name = '', format] = named
  return { prefix: `${name}-`, format: format?.toLowerCase() === 'wav' ? 'wav' : 'mp3' }
}
