// A customer's own speech vendor: text to audio over its HTTP endpoint, audio to transcripts over its WebSocket.
import { AppError } from '../lib/errors.ts'
import { readJson } from '../lib/read-json.ts'
import { memberOf, textOf } from '../lib/members.ts'
import { checkedRate, readWav } from './read-wav.ts'
import type { Settings, SpeechVendor, VendorOptions } from './vendor.ts'
import {
  callVendor,
  converseWithVendor,
  jsonOfVendors,
  neededSetting,
  toPieces,
  vendorSentence,
} from './vendor-call.ts'

const vendor = 'the custom vendor'

export function createCustom({ outgoing }: VendorOptions): SpeechVendor {
  return {
    name: 'custom',
    version: '1',
    needsCredential: true,
    // Only the owner has the list.
    offer: () => ({ tts: [], stt: [] }),
    synthesizer: {
      takesSsml: true,
      choose: ({ voice, language }) => ({ voice: voice ?? '', language, isStandIn: false }),
      // Two accounts may use the same name for different vendors.
      soundOf: (settings) => textOf(settings, 'custom_tts_url') ?? '',
      async synthesize({ text, isSsml, voice, language }, settings) {
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: neededSetting(settings, 'custom_tts_url', vendor),
          headers: {
            'content-type': 'application/json',
            accept: 'audio/wav, audio/l16',
            ...authorizationOf(settings),
          },
          body: JSON.stringify({
            language: language ?? 'en-US',
            voice,
            type: isSsml ? 'ssml' : 'text',
            text,
          }),
          accepts: /^audio\//,
        })
        const { contentType, body } = answer
        if (/^audio\/(x-)?wav|^audio\/(vnd\.)?wave/.test(contentType)) return readWav(body, vendor)
        if (!contentType.startsWith('audio/l16')) throw notPlayable(contentType)
        const rate = /rate=(\d{4,6})/.exec(contentType)?.[1]
        // RFC 2586 §3 requires network byte order; the known endpoints of this interface send little-endian.
        return {
          sampleRate: checkedRate(Number(rate ?? 8000), vendor),
          bytes: body.subarray(0, body.length - (body.length % 2)),
        }
      },
    },
    recognizer: {
      async transcribe(recording, language, settings) {
        const words: string[] = []
        await converseWithVendor(outgoing, {
          vendor,
          url: webSocketSetting(settings),
          headers: authorizationOf(settings),
          messages: [
            JSON.stringify({
              type: 'start',
              language,
              format: 'raw',
              encoding: 'LINEAR16',
              interimResults: false,
              sampleRateHz: recording.sampleRate,
            }),
            ...toPieces(recording),
            JSON.stringify({ type: 'stop' }),
          ],
          // The vendor closes the WebSocket once it has sent everything.
          hear(message) {
            const heard = parseMessage(message)
            const type = textOf(heard, 'type')
            if (type === 'error')
              throw vendorSentence(vendor, textOf(heard, 'error') ?? 'no reason given', settings)
            if (type === 'transcription' && memberOf(heard, 'is_final') === true)
              words.push(textOf(heard, 'alternatives', 0, 'transcript') ?? '')
            return false
          },
        })
        return words.join(' ').trim()
      },
    },
  }
}

function authorizationOf(settings: Settings): Readonly<Record<string, string>> {
  const token = textOf(settings, 'auth_token')
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

function webSocketSetting(settings: Settings): string {
  return neededSetting(settings, 'custom_stt_url', vendor).replace(/^http/i, 'ws')
}

function parseMessage(message: string | Buffer): unknown {
  try {
    return readJson(message, jsonOfVendors)
  } catch (cause) {
    throw new AppError('speech_failed', `${vendor} sent a message that is not JSON`, { cause })
  }
}

function notPlayable(contentType: string): AppError {
  const [type = ''] = contentType.split(';')
  return new AppError('speech_failed', `${vendor} responded with ${type}, which cannot be played`, {
    cure: 'Answer with audio/wav, or with audio/l16;rate=8000.',
  })
}
