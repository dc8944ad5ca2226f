CREATE TABLE "disputes" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"payment_id" text COLLATE "C" NOT NULL,
	"reference" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_messages" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"processor" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C",
	"message_id" text COLLATE "C" NOT NULL,
	"payment_id" text COLLATE "C",
	"reference" text COLLATE "C",
	"processor_references" text,
	"dispute" text,
	"attempts" integer NOT NULL,
	"resume_at" bigint,
	"received_at" bigint NOT NULL
);
--> statement-breakpoint
DROP INDEX "payments_reference";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "account_id" text COLLATE "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "mode" text COLLATE "C" DEFAULT 'TEST' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "processor_references" text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "sent_at" bigint;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "asked_at" bigint;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "ended_at" bigint;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "ask_at" bigint;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "claim_url" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "settled_reference" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_messages" ADD CONSTRAINT "payment_messages_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "disputes_reference" ON "disputes" USING btree ("payment_id","reference");--> statement-breakpoint
CREATE INDEX "disputes_order" ON "disputes" USING btree ("order_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_messages_once" ON "payment_messages" USING btree ("processor","account_id","message_id");--> statement-breakpoint
CREATE INDEX "payment_messages_resume" ON "payment_messages" USING btree ("resume_at") WHERE resume_at is not null;--> statement-breakpoint
CREATE INDEX "payment_messages_received" ON "payment_messages" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_named" ON "payments" USING btree ("processor","processor_reference","account_id");--> statement-breakpoint
CREATE INDEX "payments_ask" ON "payments" USING btree ("ask_at") WHERE ask_at is not null;--> statement-breakpoint
CREATE INDEX "refunds_status" ON "refunds" USING btree ("shop_id","status","id");