CREATE TABLE "mail_texts" (
	"shop_id" text COLLATE "C" NOT NULL,
	"template" text COLLATE "C" NOT NULL,
	"language" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C",
	"intro" text COLLATE "C",
	"closing" text COLLATE "C",
	"version" integer NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "mail_texts_shop_id_template_language_pk" PRIMARY KEY("shop_id","template","language")
);
--> statement-breakpoint
ALTER TABLE "shop_mail" ADD COLUMN "order_mails" text;--> statement-breakpoint
ALTER TABLE "mail_texts" ADD CONSTRAINT "mail_texts_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;