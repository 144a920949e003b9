// The known part of the offer of Google, without a request. Of its voices, the list has those with the same names in
// each language, after a few older ones.
import { once } from '../../lib/once.ts'
import { toLanguages } from '../languages.ts'
import type { Choice, Offer } from '../vendor.ts'

/** The first voice of a language speaks if an application names only the language. */
const standardVoices: ReadonlyMap<string, readonly string[]> = new Map([
  ['en-US', ['en-US-Standard-C', 'en-US-Standard-D']],
  ['en-GB', ['en-GB-Standard-A', 'en-GB-Standard-B']],
  ['de-DE', ['de-DE-Standard-A', 'de-DE-Standard-B']],
  ['es-ES', ['es-ES-Standard-A']],
  ['fr-FR', ['fr-FR-Standard-A', 'fr-FR-Standard-B']],
])

const chirpLanguages = `
  en-US en-GB de-DE es-ES fr-FR ar-XA bg-BG bn-IN cmn-CN cs-CZ da-DK el-GR en-AU en-IN es-US et-EE fi-FI fr-CA gu-IN
  he-IL hi-IN hr-HR hu-HU id-ID it-IT ja-JP kn-IN ko-KR lt-LT lv-LV ml-IN mr-IN nb-NO nl-NL nl-BE pa-IN pl-PL pt-BR
  ro-RO ru-RU sk-SK sl-SI sr-RS sv-SE sw-KE ta-IN te-IN th-TH tr-TR uk-UA ur-IN vi-VN yue-HK`

const chirpVoices = [
  ...['Aoede', 'Charon', 'Fenrir', 'Kore', 'Leda', 'Orus', 'Puck', 'Zephyr', 'Achernar', 'Achird', 'Algenib'],
  ...['Algieba', 'Alnilam', 'Autonoe', 'Callirrhoe', 'Despina', 'Enceladus', 'Erinome', 'Gacrux', 'Iapetus'],
  ...['Laomedeia', 'Pulcherrima', 'Rasalgethi', 'Sadachbia', 'Sadaltager', 'Schedar', 'Sulafat', 'Umbriel'],
  ...['Vindemiatrix', 'Zubenelgenubi'],
]

export const googleOffer = once((): Offer => ({
  tts: toLanguages(chirpLanguages).map(({ value, name }) => ({
    value,
    name,
    voices: [
      ...(standardVoices.get(value) ?? []).map((voice): Choice => ({ value: voice, name: voice })),
      ...chirpVoices.map((voice): Choice => ({
        value: `${value}-Chirp3-HD-${voice}`,
        name: `${voice} (Chirp 3 HD)`,
      })),
    ],
  })),
  stt: toLanguages(`
    en-US en-GB de-DE es-ES fr-FR af-ZA am-ET ar-AE ar-BH ar-DZ ar-EG ar-IL ar-IQ ar-JO ar-KW ar-LB ar-MA ar-OM ar-PS
    ar-QA ar-SA ar-TN ar-YE az-AZ bg-BG bn-BD bn-IN bs-BA ca-ES cmn-Hans-CN cmn-Hant-TW cs-CZ da-DK de-AT de-CH el-GR
    en-AU en-CA en-GH en-HK en-IE en-IN en-KE en-NG en-NZ en-PH en-PK en-SG en-TZ en-ZA es-AR es-BO es-CL es-CO es-CR
    es-DO es-EC es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-PY es-SV es-US es-UY es-VE et-EE eu-ES fa-IR fi-FI fil-PH
    fr-BE fr-CA fr-CH gl-ES gu-IN hi-IN hr-HR hu-HU hy-AM id-ID is-IS it-CH it-IT iw-IL ja-JP jv-ID ka-GE kk-KZ km-KH
    kn-IN ko-KR lo-LA lt-LT lv-LV mk-MK ml-IN mn-MN mr-IN ms-MY my-MM ne-NP nl-NL nl-BE no-NO pa-Guru-IN pl-PL pt-BR
    pt-PT ro-RO ru-RU si-LK sk-SK sl-SI sq-AL sr-RS su-ID sv-SE sw-KE sw-TZ ta-IN ta-LK ta-MY ta-SG te-IN th-TH tr-TR
    uk-UA ur-IN ur-PK uz-UZ vi-VN yue-Hant-HK zu-ZA`),
}))
