import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'Татвар',
  subtitle: 'Борлуулалтаас хаашаа явахаас нь хамаарч авах татвар.',
  add: 'Хувь нэмэх',
  newRate: 'Шинэ хувь',
  none: 'Татвар авахгүй байна',
  noneText: 'Татвар авах ёстой улс, эсвэл түүний хэсэг бүрд хувь нэмнэ үү. Хаана юу төлөхийг нягтлан тань мэднэ.',
  rules: 'Тохирох хувиас хамгийн нарийн нь үйлчилнэ: ангилал ба муж, дараа нь ангилал ба улс, дараа нь муж, дараа нь улс.',
  country: 'Улс',
  region: 'Муж, аймаг',
  regionHint: 'Код эсвэл нэр, жишээ нь CA, California эсвэл Улаанбаатар. Хоосон бол улс даяар.',
  whole: 'Бүхэлд нь',
  class: 'Татварын ангилал',
  classHint: 'Зөвхөн ийм ангилалтай бараанд, жишээ нь books. Хоосон бол тэнд өөрийн хувьгүй бүгдэд.',
  standard: 'Ердийн',
  ofClass: '{class} ангилал',
  rate: 'Хувь',
  percent: 'Хувь (%)',
  prices: 'Үнэ',
  inclusive: 'татвар орсон',
  onTop: 'татвар дээр нь нэмэгдэнэ',
  isInclusive: 'Үнэд татвар орсон',
  inclusiveHint: 'Үгүй бол захиалах үед нэмэгдэнэ.',
  duplicate: 'Үүнд хувь аль хэдийн бий: {name} ({rate}). Түүнийг өөрчилнө үү.',
  removed: 'Хассан: {name}',
} satisfies Translation<typeof en>
