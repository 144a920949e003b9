// A speech vendor for tests that only synthesizes samples. `test/contracts/speech-vendor.test.ts` runs the same cases
// over it and over the embedded one.
import type { SpeechOptions } from '../../src/speech/create-speech.ts'
import type { Settings, SpeechVendor, Synthesizer, Utterance } from '../../src/speech/vendor.ts'

/** Creates a vendor that writes one sample per character, and first waits for `wait`. */
export function scripted(
  script: { readonly wait?: Promise<void>; fails?: boolean; needsCredential?: true; name?: string } = {},
) {
  const said: Utterance[] = []
  const paidWith: Settings[] = []
  const voices = ['ada', 'bob']
  const synthesizer: Synthesizer = {
    takesSsml: false,
    choose: ({ voice, language }) => ({
      voice: voices.find((name) => name === voice) ?? 'ada',
      language,
      isStandIn: (voice !== null && !voices.includes(voice)) || language?.startsWith('en') === false,
    }),
    async synthesize(utterance, settings) {
      said.push(utterance)
      paidWith.push(settings)
      await script.wait
      if (script.fails === true) throw new Error('no voice today')
      return { sampleRate: 8000, bytes: new Uint8Array(2 * utterance.text.length) }
    },
  }
  const vendor: SpeechVendor = {
    name: script.name ?? 'scripted',
    version: '1',
    needsCredential: script.needsCredential === true,
    offer: () => ({}),
    synthesizer,
  }
  return { said, paidWith, script, vendor, makers: [() => vendor] as const satisfies SpeechOptions['makers'] }
}
