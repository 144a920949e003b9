// The offer of Amazon Polly and Amazon Transcribe as known without a request: the neural and standard voices.
import { once } from '../../lib/once.ts'
import { toLanguages, toVoices } from '../languages.ts'
import type { Offer } from '../vendor.ts'

/** The first voice of a language speaks if an application names only the language. */
export const awsOffer = once((): Offer => ({
  tts: toVoices({
    'en-US': 'Joanna Matthew Danielle Gregory Ivy Joey Justin Kendra Kevin Kimberly Ruth Salli Stephen',
    'en-GB': 'Amy Arthur Brian Emma',
    'de-DE': 'Vicki Daniel Hans Marlene',
    'es-ES': 'Lucia Sergio Conchita Enrique',
    'fr-FR': 'Lea Remi Celine Mathieu',
    'ar-AE': 'Hala Zayd',
    arb: 'Zeina',
    'ca-ES': 'Arlet',
    'cmn-CN': 'Zhiyu',
    'cs-CZ': 'Jitka',
    'cy-GB': 'Gwyneth',
    'da-DK': 'Sofie Mads Naja',
    'de-AT': 'Hannah',
    'de-CH': 'Sabrina',
    'en-AU': 'Olivia Nicole Russell',
    'en-GB-WLS': 'Geraint',
    'en-IE': 'Niamh',
    'en-IN': 'Kajal Aditi Raveena',
    'en-NZ': 'Aria',
    'en-SG': 'Jasmine',
    'en-ZA': 'Ayanda',
    'es-MX': 'Mia Andres',
    'es-US': 'Lupe Pedro Miguel Penelope',
    'fi-FI': 'Suvi',
    'fr-BE': 'Isabelle',
    'fr-CA': 'Gabrielle Liam Chantal',
    'hi-IN': 'Kajal Aditi',
    'is-IS': 'Dora Karl',
    'it-IT': 'Bianca Adriano Carla Giorgio',
    'ja-JP': 'Kazuha Takumi Tomoko Mizuki',
    'ko-KR': 'Seoyeon Jihye',
    'nb-NO': 'Ida Liv',
    'nl-NL': 'Laura Lotte Ruben',
    'nl-BE': 'Lisa',
    'pl-PL': 'Ola Ewa Jacek Jan Maja',
    'pt-BR': 'Camila Thiago Vitoria Ricardo',
    'pt-PT': 'Ines Cristiano',
    'ro-RO': 'Carmen',
    'ru-RU': 'Tatyana Maxim',
    'sv-SE': 'Elin Astrid',
    'tr-TR': 'Burcu Filiz',
    'yue-CN': 'Hiujin',
  }),
  stt: toLanguages(`
    en-US en-GB de-DE es-ES fr-FR af-ZA ar-AE ar-SA ca-ES cs-CZ da-DK de-CH el-GR en-AB en-AU en-IE en-IN en-NZ en-WL
    en-ZA es-US eu-ES fa-IR fi-FI fr-CA gl-ES he-IL hi-IN hr-HR id-ID it-IT ja-JP ko-KR lv-LV ms-MY nl-NL no-NO pl-PL
    pt-BR pt-PT ro-RO ru-RU sk-SK so-SO sr-RS sv-SE th-TH tl-PH uk-UA vi-VN zh-CN zh-HK zh-TW zu-ZA`),
}))
