// Recognition by a customer's own server, over the WebSocket interface of `custom:<name>` vendors.
import { AppError } from '../../lib/errors.ts'
import { listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import type { Dialect, Heard, VendorOfEars } from './dialect.ts'
import { alternativesOf } from './alternatives.ts'

const preset = 8000

export const custom: VendorOfEars = {
  name: 'custom',
  dialectOf({ settings, vendorOptions, language, hints, wantsPartials }): Dialect {
    const url = textOf(vendorOptions, 'uri') ?? textOf(settings, 'custom_stt_url')
    if (url === undefined) throw new AppError('recognizer_unknown', 'the custom vendor has no custom_stt_url')
    const token = textOf(vendorOptions, 'authToken') ?? textOf(settings, 'auth_token')
    const wanted = memberOf(vendorOptions, 'sampleRate')
    const rate = typeof wanted === 'number' && wanted >= preset && wanted <= 48_000 ? wanted : preset
    const options = memberOf(vendorOptions, 'options')
    return {
      url: url.replace(/^http/i, 'ws'),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      rate,
      first: [
        JSON.stringify({
          type: 'start',
          language,
          format: 'raw',
          encoding: 'LINEAR16',
          interimResults: wantsPartials,
          sampleRateHz: rate,
          options: {
            ...(hints.length === 0 ? {} : { hints }),
            ...(typeof options === 'object' ? options : {}),
          },
        }),
      ],
      hear: (message) => heardIn(readJson(message)),
      // The server closes the socket once it has said everything.
      end: () => [JSON.stringify({ type: 'stop' })],
    }
  },
}

function heardIn(message: unknown): readonly Heard[] {
  const type = textOf(message, 'type')
  if (type === 'error')
    return [{ type: 'failed', because: textOf(message, 'error') ?? 'no reason given', isFinal: false }]
  if (type !== 'transcription') return []
  const [first, ...others] = alternativesOf(listOf(message, 'alternatives'))
  if (first === undefined) return []
  const isFinal = memberOf(message, 'is_final') === true
  return [
    {
      type: 'words',
      text: first.transcript,
      confidence: first.confidence,
      isFinal,
      others,
      language: textOf(message, 'language'),
      evt: message,
    },
  ]
}
