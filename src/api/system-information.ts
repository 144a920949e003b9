// Information that the operator stores about the platform, for the portal and for people.
import type { Row } from '../storage/storage.ts'
import { choice, text } from './define/fields.ts'
import { object, wordOrNull } from './define/reply-fields.ts'
import { defineRoute } from './define/route.ts'

const systemInformationSid = 'default'
const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const hostName = () =>
  text({
    min: 1,
    max: 255,
    pattern: `^${label}(\\.${label})*$`,
    rule: 'must be a host name',
    lowerCase: true,
  })
// A bare address is a network with one address.
const range = '[0-9A-Fa-f:.]+(/\\d{1,3})?'

const texts = {
  domain_name: 'The domain of the portal and the API.',
  sip_domain_name: 'The domain that SIP realms lie below.',
  monitoring_domain_name: 'The domain where the operator monitors the platform.',
  private_network_cidr: 'Networks that lie inside, separated by commas.',
  log_level: '`debug` logs everything within seconds; `info` logs as the settings say.',
}

const fields = {
  domain_name: hostName().optional().describe(texts.domain_name).example('example.com'),
  sip_domain_name: hostName().optional().describe(texts.sip_domain_name).example('sip.example.com'),
  monitoring_domain_name: hostName().optional().describe(texts.monitoring_domain_name),
  private_network_cidr: text({
    max: 8192,
    pattern: `^(${range}(\\s*,\\s*${range})*)?$`,
    rule: 'must be a list of networks, such as 10.0.0.0/8,192.168.0.7',
  })
    .optional()
    .describe(texts.private_network_cidr),
  log_level: choice(['info', 'debug']).optional().describe(texts.log_level),
}

const information = object({
  domain_name: wordOrNull(texts.domain_name).optional(),
  sip_domain_name: wordOrNull(texts.sip_domain_name).optional(),
  monitoring_domain_name: wordOrNull(texts.monitoring_domain_name).optional(),
  private_network_cidr: wordOrNull(texts.private_network_cidr).optional(),
  log_level: choice(['info', 'debug']).describe(texts.log_level).optional(),
})
type Information = Pick<Row<'system_information'>, keyof typeof fields>

const getSystemInformation = defineRoute({
  method: 'GET',
  path: '/SystemInformation',
  access: ['admin'],
  operationId: 'getSystemInformation',
  tag: 'SystemInformation',
  summary: 'The information that is stored about the platform.',
  reply: {
    status: 200,
    description: 'Empty if nothing is stored.',
    component: 'SystemInformation',
    body: information,
  },
  async handle({ rows }) {
    const stored = await rows.system_information.find(systemInformationSid)
    return stored === undefined ? {} : toWire(stored)
  },
})

const setSystemInformation = defineRoute({
  method: 'POST',
  path: '/SystemInformation',
  access: ['admin'],
  operationId: 'setSystemInformation',
  tag: 'SystemInformation',
  summary: 'Stores information about the platform; members that are left out stay as they are, null clears.',
  body: fields,
  reply: {
    status: 201,
    description: 'All that is stored now.',
    component: 'SystemInformation',
    body: information,
  },
  async handle({ body: { log_level, ...body }, caller, services }) {
    const changes = { ...body, ...(log_level === undefined || log_level === null ? {} : { log_level }) }
    return services.storage.transaction(caller.tenancy, async ({ system_information }) => {
      const isThere = await system_information.update(systemInformationSid, changes)
      if (!isThere)
        await system_information.insert({ system_information_sid: systemInformationSid, ...changes })
      const stored = await system_information.find(systemInformationSid)
      return stored === undefined ? {} : toWire(stored)
    })
  },
})

function toWire(stored: Information): Information {
  const { domain_name, sip_domain_name, monitoring_domain_name, private_network_cidr, log_level } = stored
  return { domain_name, sip_domain_name, monitoring_domain_name, private_network_cidr, log_level }
}

export const systemInformationRoutes = [getSystemInformation, setSystemInformation]
