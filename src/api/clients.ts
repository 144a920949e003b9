// The resource Client: a SIP user that registers with the realm of its account.
import { systemTenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { RecordContext } from './define/request.ts'
import { demandSipPassword } from './define/operator-rules.ts'
import { defineResource } from './define/resource.ts'
import type { Services } from './services.ts'
import { flag, recordSid, sid, text } from './define/fields.ts'
import type { Row } from '../storage/storage.ts'

/** Shows the first character of a password, which helps to recognise it. */
function mask(password: string): string {
  return password.slice(0, 1) + 'x'.repeat(Math.max(0, password.length - 1))
}

export const clients = defineResource({
  name: 'Client',
  noun: 'SIP client',
  path: '/Clients',
  summary: 'The user name and password of a phone.',
  table: 'clients',
  owner: 'account',
  operations: ['list', 'create', 'read', 'update', 'delete'],
  fields: {
    client_sid: recordSid(),
    account_sid: sid('accounts')
      .fixedAfterCreate()
      .describe('May be left out with a key of the account itself.'),
    username: text({
      min: 1,
      max: 64,
      // RFC 3261 §25.1: the unescaped characters of the user part of a SIP URI.
      pattern: "^[A-Za-z0-9_.!~*'()&=+$,;?/-]+$",
      rule: "must have only letters, digits and -_.!~*'()&=+$,;?/",
    })
      .describe('Unique within the account. A new one ends the registration of the phone.')
      .example('reception'),
    password: text({ min: 1, max: 255 })
      .masked(mask)
      .describe(
        'Responses show only the first character; sending that back changes nothing. A new password ends the registration of the phone, which then needs it to register. It must have as many characters as SWITCHHOOK_MIN_SIP_PASSWORD says, 8 unless the operator has set another number, and in production must not be one that the documentation shows.',
      )
      .example('sxxxxxxx'),
    is_active: flag().default(1).describe('0: it can neither register nor call.'),
    allow_direct_app_calling: flag()
      .default(1)
      .describe('1: it may dial app-<application_sid> and conference-<name>.'),
    allow_direct_queue_calling: flag().default(1).describe('1: it may dial queue-<name>.'),
    allow_direct_user_calling: flag()
      .default(1)
      .describe(
        '1: it may dial another client of the account, take over its call (Replaces) and transfer others to it (REFER).',
      ),
  },
  errors: { create: ['already_exists'], update: ['already_exists'] },
  async beforeCreate({ account_sid, username, password }, { rows, services }) {
    demandSipPassword('password', password, services)
    await demandFree(account_sid, username, rows)
    return undefined
  },
  async beforeUpdate({ username, password }, row, { rows, services }) {
    if (username !== undefined && username !== row.username) await demandFree(row.account_sid, username, rows)
    if (password === mask(row.password)) return { password: row.password }
    if (password !== undefined && password !== row.password) demandSipPassword('password', password, services)
    return undefined
  },
  async afterUpdate(client, { is_active, username, password }, services) {
    const isAnother = username !== undefined && username !== client.username
    const isRekeyed =
      password !== undefined && password !== client.password && password !== mask(client.password)
    if (is_active === 0 || isAnother || isRekeyed) await unregister(client, services)
  },
  afterDelete: unregister,
})

async function demandFree(account_sid: string, username: string, rows: RecordContext['rows']): Promise<void> {
  const taken = await rows.clients.count({ where: { account_sid, username } })
  if (taken > 0) throw new AppError('already_exists', 'username is already used in this account')
}

/** Ends the registration of a phone that may not register any more. */
async function unregister(
  { account_sid, username }: Row<'clients'>,
  { storage, bindings }: Services,
): Promise<void> {
  const account = await storage.for(systemTenancy).accounts.find(account_sid)
  if (account?.sip_realm !== undefined && account.sip_realm !== null)
    await bindings.remove(`${username}@${account.sip_realm}`)
}
