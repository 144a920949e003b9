// The ability to call others for a caller.
import { AppError } from '../../lib/errors.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import { dial } from '../bridge/dial.ts'
import type { CallContext } from '../call-context.ts'
import type { Leg } from '../leg/leg.ts'
import type { AccountFacts, CallScript } from '../ports.ts'
import type { Legs, Notes, Speaking } from './abilities.ts'

export interface LegsOptions {
  readonly leg: Leg
  readonly script: CallScript
  readonly context: CallContext
  readonly nested: NestedVerbs
  readonly voice: Speaking
  readonly notes: Notes
}

export function createLegs(options: LegsOptions): Legs {
  const { leg, script, context, nested, voice, notes } = options

  async function account(): Promise<AccountFacts> {
    const found = await context.services.directory.account(script.account_sid)
    if (found?.is_active !== true) throw new AppError('account_inactive', 'Account exists but is inactive')
    return found
  }

  return {
    dial: async (request) =>
      dial(request, { parent: leg, account: await account(), context, nested, voice, notes }),
    realm: async () => (await account()).sip_realm ?? undefined,
  }
}
