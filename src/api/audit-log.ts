// The audit log, for the owners of the records that it is about, and its verification, for administrators.
import type { Field } from './define/field.ts'
import { boolean, choice, integer, json, sid, text, time } from './define/fields.ts'
import { createRecordForm } from './define/record.ts'
import { list, object, whole, word } from './define/reply-fields.ts'
import { defineRoute, everyone } from './define/route.ts'

/** The columns of a record, stored as JSON text. */
function cells(): Field<Readonly<Record<string, unknown>>> {
  return json({ type: 'object', additionalProperties: true }).describe(
    'The columns that changed; all that have a value when the record was made or removed. Secrets are masked. A text of ' +
      'more than 1,024 bytes is `{"length": bytes, "sha256": "..."}`.',
  )
}

const form = createRecordForm({
  seq: whole('1, 2, 3 ... over the whole platform, without a gap.'),
  at: time().describe('When the change was made.'),
  actor_kind: choice(['api_key', 'user', 'anonymous', 'platform']).describe('What kind of caller made it.'),
  actor_sid: word('The id of the API key or user.').nullable(),
  actor_name: word('The name of the user, null for a key.').nullable(),
  address: word('The IP address that the request came from.').nullable(),
  request_id: word('The request that made it, as in X-Request-Id.').nullable(),
  service_provider_sid: word('The service provider whose record it is; null: the platform’s.').nullable(),
  account_sid: word('The account whose record it is; null: no account’s.').nullable(),
  action: choice(['create', 'update', 'delete']).describe('What was done.'),
  resource: word(
    'The kind of record, such as `clients`; also `recordings` and `tts_cache`, which are not records.',
  ),
  sid: word('The id of the record; the object of a recording; the account of a cache, or `*`.'),
  before: cells().nullable(),
  after: cells().nullable(),
  unknown_fields: word(
    'The fields and query parameters of the request that do not exist, as its response named them in ' +
      '`X-Unknown-Fields`: ten names at most, without values.',
  ).nullable(),
  previous_hash: word('`hash` of the entry before this one.'),
  hash: word('SHA-256 of this entry without `hash`, as JSON in the form of RFC 8785.'),
})

const dayMs = 86_400_000

export const listAuditLog = defineRoute({
  method: 'GET',
  path: '/AuditLog',
  access: everyone,
  operationId: 'listAuditLog',
  tag: 'AuditLog',
  summary: 'One page of the changes that were made to records, newest first.',
  description:
    'An account sees changes of its own records, a service provider those of its accounts too. A login or logout ' +
    'is an entry of `user_sessions`, shown to callers that see the user.',
  query: {
    page: integer({ min: 1, max: 10_000_000 }).describe('From 1.'),
    count: integer({ min: 1, max: 500 }).describe('Entries on a page.'),
    account_sid: sid().optional().describe('Only changes of records of this account.'),
    resource: text({ max: 64 }).optional().describe('The kind of record, as in the entries: `clients`.'),
    sid: text({ max: 255 }).optional().describe('The id of one record.'),
    action: choice(['create', 'update', 'delete']).optional().describe('Only changes of this kind.'),
    actor_sid: text({ max: 255 }).optional().describe('The id of the user or API key that made the change.'),
    days: integer({ min: 1, max: 36_500 })
      .optional()
      .describe('Only the last N times 24 hours; overrides start and end.'),
    start: time().optional().describe('At this moment or later.'),
    end: time().optional().describe('At this moment or earlier.'),
  },
  reply: {
    status: 200,
    description: 'The page.',
    component: 'AuditEntry',
    body: object({
      total: whole('Entries that match.'),
      page: whole('The page asked for, from 1.'),
      page_size: whole('The count asked for.'),
      data: list(form.field).describe('The entries, newest first.'),
    }),
  },
  async handle({ caller, query, services }) {
    const { days, ...wanted } = query
    const { page, count } = query
    const { total, rows } = await services.storage.audit.page(caller.tenancy, {
      ...wanted,
      ...(days === undefined ? {} : { start: services.clock.now() - days * dayMs, end: undefined }),
    })
    return { total, page, page_size: count, data: rows.map((row) => form.toWire(row)) }
  },
})

export const verifyAuditLog = defineRoute({
  method: 'GET',
  path: '/AuditLog/verify',
  access: ['admin'],
  operationId: 'verifyAuditLog',
  tag: 'AuditLog',
  summary: 'Reads the whole audit log and reports whether anything in it was changed, removed or inserted.',
  description:
    'Keep `head` somewhere else: as long as the entry of that number has that hash, nothing up to it was replaced.',
  reply: {
    status: 200,
    description: 'The verdict.',
    component: 'AuditVerdict',
    body: object({
      intact: boolean().describe('Nothing was changed, removed or inserted.'),
      entries: whole('How many entries were read.'),
      head: object({ seq: whole('Its number.'), hash: word('Its hash.') }).describe('The newest entry.'),
      checkpoint: object({ seq: whole('Its number.'), hash: word('Its hash.') })
        .nullable()
        .describe(
          'The entry up to which the log was exported and removed; the chain is proven from there on.',
        ),
      problems: list(
        object({
          seq: whole('The number of the entry.'),
          problem: choice(['missing', 'changed', 'unchained', 'head', 'checkpoint']).describe(
            'missing: there is no such entry; changed: its hash does not match it; unchained: it does not name the hash of ' +
              'the one before; head: the log does not end with the entry that was noted as its last; checkpoint: the ' +
              'checkpoint was not made by the platform.',
          ),
        }),
      ).describe('The first hundred, each with the number of the entry at which it shows.'),
    }),
  },
  async handle({ services }) {
    const { isIntact, ...found } = await services.storage.audit.verify()
    return { intact: isIntact, ...found }
  },
})

export const exportAuditLog = defineRoute({
  method: 'GET',
  path: '/AuditLog/export',
  access: ['admin'],
  operationId: 'exportAuditLog',
  tag: 'AuditLog',
  summary: 'Entries of the audit log in the order of the chain, oldest first, to be kept elsewhere.',
  description:
    'Ask again with `after` set to the last number until no entry comes. Then a checkpoint may be made at the last one.',
  query: {
    after: integer({ min: 0, max: Number.MAX_SAFE_INTEGER }).describe(
      'The number of the last entry that you have; 0 at first.',
    ),
    count: integer({ min: 1, max: 500 })
      .optional()
      .describe('The most entries, 500 if not set. They have at most 4 MB together.'),
  },
  reply: {
    status: 200,
    description: 'The entries.',
    component: 'AuditExport',
    body: object({ data: list(form.field).describe('The entries, oldest first.') }),
  },
  async handle({ query: { after, count = 500 }, services }) {
    const rows = await services.storage.audit.after(after, count)
    return { data: rows.map((row) => form.toWire(row)) }
  },
})

export const makeAuditCheckpoint = defineRoute({
  method: 'POST',
  path: '/AuditLog/checkpoints',
  access: ['admin'],
  operationId: 'makeAuditCheckpoint',
  tag: 'AuditLog',
  summary: 'Removes the audit log up to an entry, which becomes the sealed beginning of the chain.',
  description:
    'Export these entries first: they are removed. The log is verified up to the entry, and the removal is an entry ' +
    'itself. `GET /AuditLog/verify` then proves the chain from this entry on.',
  body: {
    seq: integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).describe(
      'The number of the last entry to be removed.',
    ),
    hash: text({ max: 64 }).describe('Its hash, which shows that you have it.'),
  },
  errors: ['not_found', 'audit_log_broken'],
  reply: { status: 204, description: 'Sealed and removed.' },
  async handle({ body, services }) {
    await services.storage.audit.removeUpTo(body)
  },
})

export const auditLogRoutes = [listAuditLog, verifyAuditLog, exportAuditLog, makeAuditCheckpoint]
