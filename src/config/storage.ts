// Settings of stored data: where, and for how long.
import { count, optionalText, type Setting } from './setting.ts'

export const storageSettings = {
  dataDir: {
    name: 'SWITCHHOOK_DATA_DIR',
    fallback: './data',
    describe: 'Where the embedded database, the key file and the audio cache live.',
    parse: (text) => text,
  } satisfies Setting<string>,
  databaseUrl: {
    name: 'SWITCHHOOK_DATABASE_URL',
    fallback: '',
    describe:
      'A postgres:// URL to use PostgreSQL, whose user may create tables there, and the extension pg_trgm for faster searches; empty for the embedded database.',
    parse: (text) => {
      if (text !== '' && (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)))
        throw new Error('must be a postgres:// URL')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
  secretKey: {
    name: 'SWITCHHOOK_SECRET_KEY',
    fallback: '',
    describe: 'The key for secrets at rest, 64 hex digits; empty for a key file made at first boot.',
    parse: (text) => {
      if (text !== '' && !/^[0-9a-f]{64}$/i.test(text)) throw new Error('must be 64 hex digits')
      // Sixty-four random digits have at least eight different ones but once in 10^16 times.
      if (text !== '' && new Set(text.toLowerCase()).size < 8)
        throw new Error('must be random, for example from openssl rand -hex 32')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
  diskReserveMb: count(
    'SWITCHHOOK_DISK_RESERVE_MB',
    '32',
    'How many megabytes of the disk with the embedded database are kept for the time when it is full: as a file named reserve in the data directory, at most a twentieth of the disk. When less than this is left besides, new calls and the changes of accounts are refused with disk_full, and /health is 503. When a write fails, the file is removed, so that administrators, logins and removals can still write. 0: no reserve.',
    0,
  ),
  recordingSpoolMb: count(
    'SWITCHHOOK_RECORDING_SPOOL_MB',
    '20480',
    'How many megabytes of sound may wait in the data directory to be stored, for all accounts together: 32 kB for each second of a recorded call. When this, or the share of its account (SWITCHHOOK_ACCOUNT_SHARE), is used up, a recording ends, and the call continues. A recording also ends when only a tenth of the disk, or 1 GB if that is less, is left free.',
    1,
  ),
  recordingAccountMb: count(
    'SWITCHHOOK_RECORDING_ACCOUNT_MB',
    '1024',
    'How many megabytes of recordings the data directory keeps for an account without a bucket; 0: none.',
    0,
  ),
  recordingDays: count(
    'SWITCHHOOK_RECORDING_DAYS',
    '30',
    'How long recordings are kept in the data directory; 0 for ever. Those in buckets stay there as long as their call records.',
    0,
  ),
  deliveryLogDays: count(
    'SWITCHHOOK_DELIVERY_LOG_DAYS',
    '30',
    'How long the log of delivered notifications is kept; 0 for ever.',
    0,
  ),
  callRecordDays: count(
    'SWITCHHOOK_CALL_RECORD_DAYS',
    '365',
    'How many days call records and their journals are kept, and the recordings of these calls, those in the buckets of accounts included; 0 for ever.',
    0,
  ),
  refusedCallDays: count(
    'SWITCHHOOK_REFUSED_CALL_DAYS',
    '7',
    'How many days the records and journals of inbound calls are kept that were not answered and that the platform refused, those of scanners among them; 0 for as long as other call records.',
    0,
  ),
}
