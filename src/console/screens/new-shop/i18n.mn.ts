import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  setupTitle: 'souk-д тавтай морил',
  setupText: 'Бүртгэл болон дэлгүүрээ үүсгэнэ үү.',
  setupToken: 'Тохиргооны токен',
  setupTokenHint: 'souk-ийн терминал дээр хэвлэсэн тохиргооны холбоосын # тэмдгийн араас бичигдсэн хэсэг',
  setupGo: 'Дэлгүүр үүсгэх',
  email: 'Имэйл',
  password: 'Нууц үг',
  passwordHint: 'Дор хаяж 10 тэмдэгт',
  shop: 'Таны дэлгүүр',
  title: 'Дэлгүүрийн нэр',
  handleHint: 'Дэлгүүрийн хаягийн хэсэг: латин жижиг үсэг, цифр, зураас. Дараа нь өөрчлөх боломжгүй.',
  choose: 'Сонгох…',
  currency: 'Валют',
  currencyHint: 'Үнэ нэмэх хүртэл өөрчилж болно',
  create: 'Дэлгүүр үүсгэх',
  createText: 'Дэлгүүр туршилтын горимд эхэлнэ. Та эзэмшигч нь болно.',
  created: 'Дэлгүүр үүслээ',
  notAllowed: 'Та энд дэлгүүр үүсгэх боломжгүй',
  notAllowedText: 'Энэ системийн удирдагчаас асууна уу.',
} satisfies Translation<typeof en>
