// The ability to set the customerData in later payloads of a call.
import { AppError } from '../../lib/errors.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Tags } from '../verb/abilities.ts'

export const maxTagLength = 65_536

export function createTags(journal: JournalWriter): Tags {
  return {
    set(data) {
      if (JSON.stringify(data).length > maxTagLength)
        throw new AppError('bad_request', `tag: "data" is longer than ${maxTagLength} characters`)
      journal.add({ type: 'tagged', data })
    },
  }
}
