// The addresses where carriers reach the platform over SIP and SMPP, for people to pass on. A provider without
// addresses of its own has those of the platform.
import { systemTenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Fields } from './define/field.ts'
import { flag, integer, recordSid, sid, text } from './define/fields.ts'
import { createRecordForm } from './define/record.ts'
import { list } from './define/reply-fields.ts'
import { createdReply } from './define/record-routes.ts'
import { defineRoute, everyone, type ApiRoute } from './define/route.ts'
import { repositoryOf } from './define/rows.ts'

const octet = '(25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const ipv4 = () =>
  text({ max: 15, pattern: `^(${octet}\\.){3}${octet}$`, rule: 'must be an IPv4 address' }).example(
    '192.0.2.1',
  )
const port = () => integer({ min: 1, max: 65_535 })
const provider = () =>
  sid('service_providers').nullable().describe('Null: for every provider that has none of its own.')

interface AddressKind {
  readonly path: '/Sbcs' | '/Smpps'
  readonly table: 'sbc_addresses' | 'smpp_addresses'
  readonly name: string
  readonly noun: string
  readonly key: 'sbc_address_sid' | 'smpp_address_sid'
  readonly fields: Fields
}

const sbcs: AddressKind = {
  path: '/Sbcs',
  table: 'sbc_addresses',
  name: 'SbcAddress',
  noun: 'SIP address',
  key: 'sbc_address_sid',
  fields: {
    sbc_address_sid: recordSid(),
    ipv4: ipv4().describe('The address that carriers send calls to.'),
    port: port().default(5060).describe('The port for SIP over UDP and TCP.'),
    tls_port: port().nullable().describe('The port for SIP over TLS; null: there is none.'),
    wss_port: port().nullable().describe('The port for SIP over secure WebSockets; null: there is none.'),
    service_provider_sid: provider(),
    last_updated: integer({ min: 0, max: 253_402_300_799_999 })
      .nullable()
      .readOnly()
      .describe('When it last changed, in epoch milliseconds.'),
  },
}

const smpps: AddressKind = {
  path: '/Smpps',
  table: 'smpp_addresses',
  name: 'SmppAddress',
  noun: 'SMPP address',
  key: 'smpp_address_sid',
  fields: {
    smpp_address_sid: recordSid(),
    ipv4: ipv4().describe('The address that carriers bind to.'),
    port: port().default(2775).describe('The TCP port.'),
    use_tls: flag().default(0).describe('1: SMPP over TLS.').notServed('messaging'),
    is_primary: flag().default(1).describe('1: to be tried first.').notServed('messaging'),
    service_provider_sid: provider(),
  },
}

function listRoute({ path, table, name, noun, fields }: AddressKind): ApiRoute {
  const form = createRecordForm(fields)
  return defineRoute({
    method: 'GET',
    path,
    access: everyone,
    operationId: `list${path.slice(1)}`,
    tag: path.slice(1),
    summary: `Lists ${noun}es of the platform.`,
    query: { service_provider_sid: sid().optional().describe('For an administrator: the service provider.') },
    reply: {
      status: 200,
      description: 'The addresses of the service provider, or of the platform if it has none.',
      component: name,
      body: list(form.field),
    },
    async handle({ query, caller, rows, services }) {
      const { tenancy } = caller
      const asked = tenancy.level === 'admin' ? query.service_provider_sid : tenancy.service_provider_sid
      const own =
        asked === undefined
          ? []
          : await repositoryOf(rows, table).list({ where: { service_provider_sid: asked } })
      // The platform's own addresses belong to no tenant that a caller could have.
      const all = repositoryOf(services.storage.for(systemTenancy), table)
      const shown = own.length > 0 ? own : await all.list({ where: { service_provider_sid: null } })
      return shown.map((row) => form.toWire(row))
    },
  })
}

function createRoute({ path, table, name, noun, key, fields }: AddressKind): ApiRoute {
  const form = createRecordForm(fields)
  return defineRoute({
    method: 'POST',
    path,
    access: ['admin'],
    operationId: `create${name}`,
    tag: path.slice(1),
    summary: `Adds an ${noun} of the platform.`,
    body: fields,
    reply: createdReply,
    async handle({ body, rows }) {
      const cells = form.toCells(body)
      const owner = cells['service_provider_sid']
      if (typeof owner === 'string' && (await rows.service_providers.find(owner)) === undefined)
        throw new AppError('bad_request', 'service_provider_sid names no existing service provider')
      return { sid: String((await repositoryOf(rows, table).insert(cells))[key]) }
    },
  })
}

function removeRoute({ path, table, name, noun }: AddressKind): ApiRoute {
  const parameter = `${name}Sid`
  return defineRoute({
    method: 'DELETE',
    path: `${path}/{${parameter}}`,
    parameters: { [parameter]: 'The id of the address.' },
    access: ['admin'],
    operationId: `delete${name}`,
    tag: path.slice(1),
    summary: `Removes an ${noun} of the platform.`,
    reply: { status: 204, description: 'Removed.' },
    errors: ['not_found'],
    async handle({ params, rows }) {
      const isRemoved = await repositoryOf(rows, table).remove(params[parameter] ?? '')
      if (!isRemoved) throw new AppError('not_found', 'no such address')
    },
  })
}

export const platformAddressRoutes = [sbcs, smpps].flatMap((kind) => [
  listRoute(kind),
  createRoute(kind),
  removeRoute(kind),
])
