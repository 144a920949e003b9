import { describe, expect, it } from 'vitest'
import { toWav } from './audio.ts'
import { isMissing } from './tools.ts'
import { asHeard } from './vendors/line.ts'
import { plain } from './vendors/front.ts'
import { speechClips } from './vendors/speech-clips.ts'
import { whisperUrl } from './whisper-server.ts'

async function transcribe(wav: Buffer): Promise<string> {
  const form = new FormData()
  form.append('model', 'whisper-1')
  form.append('file', new File([new Uint8Array(wav)], 'recording.wav'))
  const response = await fetch(`${await whisperUrl()}/audio/transcriptions`, { method: 'POST', body: form })
  const { text } = (await response.json()) as { readonly text: string }
  return plain(text.trim())
}

describe.skipIf(isMissing('whisper'))('The Whisper server of the test run', () => {
  it('hears the words of a sentence through 8 kHz mu-law', async () => {
    const [clip] = speechClips(['I would like to book a table for two.'], { voice: 'rms' })
    expect(await transcribe(toWav(asHeard(clip!.audio)))).toBe('i would like to book a table for two')
  })

  it('is the same for each file and outlasts it', async () => {
    expect(await whisperUrl()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
    expect(await whisperUrl()).toBe(await whisperUrl())
  })
})
