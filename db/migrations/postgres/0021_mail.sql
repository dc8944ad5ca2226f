CREATE TABLE "mails" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C",
	"lane" text COLLATE "C" NOT NULL,
	"template" text COLLATE "C" NOT NULL,
	"language" text COLLATE "C",
	"sealed" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"attempts" integer NOT NULL,
	"next_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"last_error" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "one_time_tokens" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"purpose" text COLLATE "C" NOT NULL,
	"subject_id" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C",
	"address_hash" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "shop_mail" (
	"shop_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"sender_name" text COLLATE "C",
	"reply_to" text COLLATE "C",
	"accent_colour" text COLLATE "C",
	"background_colour" text COLLATE "C",
	"language" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "shop_mail" ADD CONSTRAINT "shop_mail_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "mails_key" ON "mails" USING btree ("key");--> statement-breakpoint
CREATE INDEX "mails_lane" ON "mails" USING btree ("lane","next_at") WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("next_at") WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX "mails_expiry" ON "mails" USING btree ("expires_at") WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX "one_time_tokens_subject" ON "one_time_tokens" USING btree ("subject_id","purpose");--> statement-breakpoint
CREATE INDEX "one_time_tokens_expiry" ON "one_time_tokens" USING btree ("expires_at");