// A row that can be decrypted only with the key that its database was made with.
import { StartError } from '../lib/start-error.ts'

export const keyCheck = { name: 'secret_key_check', value: 'sealed with the key of this database' }

export function wrongKey(cause: unknown): StartError {
  return new StartError(
    'The key does not open the secrets of this database. Set SWITCHHOOK_SECRET_KEY, or restore secret.key in the ' +
      'data directory, to the key the database was made with.',
    { cause },
  )
}
