// Credentials for speech vendors, and the voices that customers have had made by Google.
import { sql, type Kysely } from 'kysely'
import { flag, id, owned, owner, preset, required, versioned } from './columns.ts'

export async function createSpeech(db: Kysely<unknown>): Promise<void> {
  await owned('speech_credentials', versioned(db.schema.createTable('speech_credentials')))
    .addColumn('speech_credential_sid', 'text', id)
    // `google`, `custom:mine` ...
    .addColumn('vendor', 'text', required)
    .addColumn('label', 'text')
    // JSON text of the fields of its vendor.
    .addColumn('settings', 'text', required)
    .addColumn('use_for_tts', 'integer', flag(1))
    .addColumn('use_for_stt', 'integer', flag(1))
    .addColumn('last_used', 'bigint')
    .addColumn('last_tested', 'bigint')
    .addColumn('tts_tested_ok', 'integer')
    .addColumn('stt_tested_ok', 'integer')
    .addUniqueConstraint('speech_credentials_label', ['account_sid', 'vendor', 'label'])
    .execute()
  // NULL equals nothing, so the constraint above does not cover the credentials of providers.
  await db.schema
    .createIndex('speech_credentials_provider_label')
    .unique()
    .on('speech_credentials')
    .columns(['service_provider_sid', 'vendor', 'label'])
    .where(sql.ref('account_sid'), 'is', null)
    .execute()
  await db.schema.createIndex('speech_credentials_by_owner').on('speech_credentials').columns(owner).execute()

  await owned('google_custom_voices', versioned(db.schema.createTable('google_custom_voices')))
    .addColumn('google_custom_voice_sid', 'text', id)
    .addColumn('speech_credential_sid', 'text', (column) =>
      required(column).references('speech_credentials.speech_credential_sid').onDelete('cascade'),
    )
    .addColumn('name', 'text', required)
    .addColumn('model', 'text', required)
    .addColumn('reported_usage', 'text', preset('REALTIME'))
    .addColumn('voice_cloning_key', 'text')
    .addColumn('use_voice_cloning_key', 'integer', flag(0))
    .execute()
  await db.schema
    .createIndex('google_custom_voices_by_owner')
    .on('google_custom_voices')
    .columns(owner)
    .execute()
  await db.schema
    .createIndex('google_custom_voices_by_account')
    .on('google_custom_voices')
    .column('account_sid')
    .execute()
  await db.schema
    .createIndex('google_custom_voices_by_credential')
    .on('google_custom_voices')
    .column('speech_credential_sid')
    .execute()
}
