CREATE TABLE "processor_accounts" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"processor" text COLLATE "C" NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"identity" text COLLATE "C",
	"publishable" text NOT NULL,
	"sealed_settings" text COLLATE "C" NOT NULL,
	"api_url" text COLLATE "C",
	"names" text NOT NULL,
	"version" integer NOT NULL,
	"checked_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"retired_at" bigint
);
--> statement-breakpoint
ALTER TABLE "customer_totals" ADD COLUMN "live_orders" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "customer_totals" ADD COLUMN "live_spent" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "mode" text COLLATE "C" DEFAULT 'TEST' NOT NULL;--> statement-breakpoint
ALTER TABLE "processor_accounts" ADD CONSTRAINT "processor_accounts_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "processor_accounts_live" ON "processor_accounts" USING btree ("shop_id","processor","mode") WHERE retired_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "processor_accounts_version" ON "processor_accounts" USING btree ("shop_id","processor","mode","version");--> statement-breakpoint
CREATE INDEX "processor_accounts_account" ON "processor_accounts" USING btree ("account_id","version");