// The resource ServiceProvider.
import { AppError } from '../lib/errors.ts'
import { defineResource } from './define/resource.ts'
import { recordSid, text, webhook } from './define/fields.ts'

// RFC 1123 §2.1 host names.
const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const hostName = { pattern: `^${label}(\\.${label})*$`, rule: 'must be a host name', lowerCase: true }

export const serviceProviders = defineResource({
  name: 'ServiceProvider',
  noun: 'service provider',
  path: '/ServiceProviders',
  summary: 'The owner of accounts.',
  table: 'service_providers',
  owner: 'admin',
  operations: ['list', 'create', 'read', 'update', 'delete'],
  access: { create: ['admin'], update: ['admin', 'service_provider'], delete: ['admin'] },
  fields: {
    service_provider_sid: recordSid(),
    name: text({ min: 1, max: 64 }).describe('Unique on the platform.').example('default service provider'),
    description: text({ max: 255 }).nullable().describe('For people.'),
    root_domain: text({ min: 1, max: 128, ...hostName })
      .nullable()
      .describe('The domain that the SIP realms of its accounts lie below; unique.')
      .example('sip.example.com'),
    ms_teams_fqdn: text({ min: 1, max: 255, ...hostName })
      .nullable()
      .describe(
        'The FQDN that the SBC of the provider has in the Teams admin centre: Microsoft Teams is sent OPTIONS in its name, for all tenants below it. Unique.',
      ),
    registration_hook: webhook()
      .nullable()
      .describe('Decides about registrations of accounts that have no hook of their own.'),
  },
  async beforeDelete({ service_provider_sid }, { rows }) {
    const where = { service_provider_sid }
    const [accounts, users, providers] = await Promise.all([
      rows.accounts.count({ where }),
      rows.users.count({ where }),
      rows.service_providers.count(),
    ])
    if (accounts > 0) throw stillUsed(accounts, 'account')
    if (users > 0) throw stillUsed(users, 'user')
    // Every record, except an administrator, belongs to a provider, and clients need one.
    if (providers === 1) throw new AppError('in_use', 'the last service provider cannot be removed')
  },
})

function stillUsed(count: number, noun: string): AppError {
  const what = count === 1 ? `1 ${noun} still belongs` : `${count} ${noun}s still belong`
  return new AppError('in_use', `${what} to this service provider`)
}
