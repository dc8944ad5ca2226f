import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'Дэлгүүрт нэгдэх',
  text: 'Таныг дэлгүүрт ажиллахаар урьсан байна. Нууц үг сонгоно уу. Имэйл тань бүртгэлтэй бол түүний нууц үгийг оруулна уу.',
  joined: '{shop} дэлгүүрийг нээхийн тулд нэвтэрнэ үү.',
  join: 'Нэгдэх',
  login: 'Нэвтрэх',
  name: 'Таны нэр',
  nameHint: 'Дэлгүүрийн ажилтнуудад харагдана',
  password: 'Нууц үг',
  passwordHint: 'Дор хаяж 10 тэмдэгт',
} satisfies Translation<typeof en>
