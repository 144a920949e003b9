// Sentences of vendors without the secrets that they may repeat.
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { toReason } from '../../outgoing/vendor-failure.ts'

type Secretive = Pick<RecognitionOrder, 'settings' | 'vendorOptions'>

/** Returns a sentence on one line, shortened, without keys of the credential or of the verb. */
export function withoutSecrets(sentence: string, { settings, vendorOptions }: Secretive): string {
  return toReason(sentence, [...secretsIn(settings), ...secretsIn(vendorOptions)])
}

function secretsIn(settings: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) =>
    /key(?!term|word)|secret|token/i.test(name) && typeof value === 'string' ? [value] : [],
  )
}
