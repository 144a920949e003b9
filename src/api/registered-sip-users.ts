// The phones of an account that are registered now.
import { AppError } from '../lib/errors.ts'
import type { Repositories, Row } from '../storage/storage.ts'
import type { RegisteredPhone } from '../contracts/registered-phone.ts'
import type { Services } from './services.ts'
import type { WireOf } from './define/field.ts'
import { choice, flag, text } from './define/fields.ts'
import { list, object, whole, word } from './define/reply-fields.ts'
import { defineRoute, everyone } from './define/route.ts'

const tag = 'RegisteredSipUsers'
const path = '/Accounts/{AccountSid}/RegisteredSipUsers'

const device = object({
  contact: word('The URI where it is reached.'),
  expiryTime: whole('When the registration ends, in epoch milliseconds.'),
  protocol: word('The transport it registered over: udp, tcp, tls, ws or wss.'),
  proxy: word('The address that its requests come from.'),
})
const phoneFields = {
  name: word('The user part of the address of record.'),
  contact: word('The URI of the phone that registered last; null when not registered.').nullable(),
  expiryTime: whole('When the registration ends, in epoch milliseconds; 0 when not registered.'),
  protocol: word('The transport it registered over: udp, tcp, tls, ws or wss.').nullable(),
  registered_status: choice(['active', 'inactive']).describe('active: registered now.'),
  contacts: list(device).describe(
    'Every phone of the user, the one that registered last first: a call to the user rings them all.',
  ),
}
const phone = object(phoneFields)
const client = object({
  ...phoneFields,
  allow_direct_app_calling: flag().describe('1: it may dial app-<application_sid> and conference-<name>.'),
  allow_direct_queue_calling: flag().describe('1: it may dial queue-<name>.'),
  allow_direct_user_calling: flag().describe(
    '1: it may dial another client of the account, take over its call (Replaces) and transfer others to it (REFER).',
  ),
  proxy: word('The address that its requests come from.').nullable(),
})

export const listRegisteredUsers = defineRoute({
  method: 'GET',
  path,
  access: everyone,
  operationId: 'listRegisteredSipUsers',
  tag,
  summary: 'The addresses of record with a live registration.',
  reply: {
    status: 200,
    description: 'Addresses as user@realm.',
    body: list(word()),
  },
  async handle({ account, services }) {
    const bindings = await services.bindings.list(realmOf(account))
    return [...new Set(bindings.map(({ aor }) => aor))]
  },
})

export const findRegisteredUsers = defineRoute({
  method: 'POST',
  path,
  access: everyone,
  openToViewOnly: true,
  operationId: 'findRegisteredSipUsers',
  tag,
  summary: 'The registrations of several users, in the order asked for; of all when none is named.',
  body: {
    users: list(text({ max: 128 }), { max: 1000 })
      .default([])
      .describe('User parts of addresses of record.')
      .example(['reception']),
  },
  bodyIs: 'users',
  reply: {
    status: 200,
    description: 'One record per user asked for, registered or not.',
    body: list(phone),
    component: 'RegisteredUser',
  },
  async handle({ account, body: { users }, services }) {
    const realm = realmOf(account)
    if (users === undefined || users.length === 0) {
      const bindings = await services.bindings.list(realm)
      const phones = Map.groupBy(bindings, userOf)
      return [...phones].map(([user, found]) => describePhone(user, found))
    }
    return Promise.all(
      users.map(async (user) => describePhone(user, await services.bindings.get(`${user}@${realm}`))),
    )
  },
})

export const getRegisteredUser = defineRoute({
  method: 'GET',
  path: `${path}/{Client}`,
  parameters: { Client: 'The user part of the address of record.' },
  access: everyone,
  operationId: 'getRegisteredSipUser',
  tag,
  summary: 'The registration of one user, whether there is one or not.',
  reply: {
    status: 200,
    description: 'The registration.',
    body: client,
    component: 'RegisteredClient',
  },
  async handle({ account, params, rows, services }) {
    return describeClient(params.Client, account, rows, services)
  },
})

async function describeClient(
  user: string,
  account: Row<'accounts'>,
  rows: Repositories,
  services: Services,
): Promise<WireOf<typeof client>> {
  const { account_sid } = account
  const realm = realmOf(account)
  const [bindings, [known]] = await Promise.all([
    services.bindings.get(`${user}@${realm}`),
    rows.clients.list({ where: { account_sid, username: user }, limit: 1 }),
  ])
  return {
    ...describePhone(user, bindings),
    allow_direct_app_calling: known?.allow_direct_app_calling ?? 0,
    allow_direct_queue_calling: known?.allow_direct_queue_calling ?? 0,
    allow_direct_user_calling: known?.allow_direct_user_calling ?? 0,
    proxy: bindings[0] === undefined ? null : proxyOf(bindings[0]),
  }
}

function describePhone(name: string, bindings: readonly RegisteredPhone[]): WireOf<typeof phone> {
  const [binding] = bindings
  return {
    name,
    contact: binding?.contact ?? null,
    expiryTime: binding?.expiresAt ?? 0,
    protocol: binding?.remote.transport ?? null,
    registered_status: binding === undefined ? 'inactive' : 'active',
    contacts: bindings.map(describeDevice),
  }
}

function describeDevice(binding: RegisteredPhone): WireOf<typeof device> {
  const { contact, expiresAt: expiryTime, remote } = binding
  return { contact, expiryTime, protocol: remote.transport, proxy: proxyOf(binding) }
}

function proxyOf({ remote: { address, port } }: RegisteredPhone): string {
  // RFC 3261 §25.1: an IPv6 address in a URI is in brackets.
  return `sip:${address.includes(':') ? `[${address}]` : address}:${port}`
}

function userOf({ aor }: RegisteredPhone): string {
  return aor.slice(0, aor.lastIndexOf('@'))
}

function realmOf({ sip_realm }: Row<'accounts'>): string {
  if (sip_realm === null) throw new AppError('bad_request', 'the account has no sip_realm')
  return sip_realm
}

export const registeredSipUserRoutes = [listRegisteredUsers, findRegisteredUsers, getRegisteredUser]
